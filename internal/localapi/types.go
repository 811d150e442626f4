package localapi

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
)

// The states of a member as other members see it.
const (
	StateAlive   = "alive"   // answers
	StateSuspect = "suspect" // did not answer lately, not yet given up
	StateDead    = "dead"    // gave no answer; probably switched off
	StateLeft    = "left"    // said goodbye
)

// The roles that programs compare.
const (
	RoleLeader     = "leader"
	RoleIneligible = "ineligible" // the reasons say why
)

// Members is the member table of one site.
type Members struct {
	KMSN    string   `json:"kmsn"`
	Self    string   `json:"self"`   // id of this member
	Leader  string   `json:"leader"` // id of the leader, empty while there is none
	Epoch   uint64   `json:"epoch"`
	Rev     uint64   `json:"rev"`
	Members []Member `json:"members"`
}

// Member is one PC. PCs that are off stay listed, with State dead or left and
// the reason last-seen.
type Member struct {
	ID       string `json:"id"` // node and run, as lease.ID prints them
	Station  string `json:"station"`
	Addr     string `json:"addr"` // address and gossip port
	State    string `json:"state"`
	Role     string `json:"role"` // leader, candidate, client or ineligible
	Epoch    uint64 `json:"epoch"`
	Priority int    `json:"priority"` // RELAY_PRIORITY; 0 never leads
	Eligible bool   `json:"eligible"`
	Note     string `json:"note"` // why it is not eligible, or what is odd
	// Reasons say the same with codes, which no language and no version changes.
	Reasons []reason.Reason `json:"reasons,omitempty"`
	Share   string          `json:"share"`   // share id it sees, empty if none
	RTT     float64         `json:"rtt_ms"`  // round trip in milliseconds, 0 if not known
	Version string          `json:"version"` // of its floatrelay
}

// Off reports whether the PC is not running floatrelay as far as is known.
func (m Member) Off() bool { return m.State == StateDead || m.State == StateLeft }

// Leader is where the relay is.
type Leader struct {
	KMSN       string `json:"kmsn"`
	Station    string `json:"station"`
	IP         string `json:"ip"`
	Port       int    `json:"port"`
	Epoch      uint64 `json:"epoch"`
	Rev        uint64 `json:"rev"`
	LeaseUntil string `json:"lease_until"` // leader's local time, YYYYMMDDHHMMSS
	Ready      bool   `json:"ready"`       // the relay accepts connections
}

// Status is what one daemon knows of itself.
type Status struct {
	KMSN     string          `json:"kmsn,omitempty"`
	Station  string          `json:"station,omitempty"`
	Role     string          `json:"role"`
	Epoch    uint64          `json:"epoch"`
	Rev      uint64          `json:"rev"`
	Eligible bool            `json:"eligible"`
	Note     string          `json:"note"`
	Do       string          `json:"do,omitempty"`      // what to do about it
	Reasons  []reason.Reason `json:"reasons,omitempty"` // the same with codes
	Leader   string          `json:"leader"`            // id of the leader, as in Members
	Relay    RelayStatus     `json:"relay"`
	Fence    FenceStatus     `json:"fence"`
	Share    ShareStatus     `json:"share"`
	Gossip   GossipStatus    `json:"gossip"`
	Token    string          `json:"token"` // fingerprint of RELAY_TOKEN
	Rotation *Rotation       `json:"rotation,omitempty"`
	// Clock is left out while another PC does not lead, and until it renewed
	// the lease a few times.
	Clock *ClockStatus `json:"clock,omitempty"`
	// Forward is left out without FORWARD_PORT.
	Forward *ForwardStatus `json:"forward,omitempty"`
}

// ClockStatus compares the leader's wall clock with this PC's, as the records it
// writes show it. Another time zone shows as hours.
type ClockStatus struct {
	Station string `json:"station"` // whose it is
	SkewMS  int64  `json:"skew_ms"` // its clock minus ours, exact to a second or two
}

// ForwardStatus is what leads the programs of this PC to the relay.
type ForwardStatus struct {
	Port     int    `json:"port"`     // FORWARD_PORT on 127.0.0.1
	To       string `json:"to"`       // where it leads, or that nobody leads; for people
	Open     int64  `json:"open"`     // connections to the site's relay
	Held     int64  `json:"held"`     // programs that wait for it
	Fallback int64  `json:"fallback"` // connections to RELAY_HOST
	Problem  string `json:"problem,omitempty"`
}

// Rotation is how far a change of the token has come; there is none without
// RELAY_TOKEN_OLD.
type Rotation struct {
	Old     string   `json:"old"`     // fingerprint of RELAY_TOKEN_OLD
	UsesNew bool     `json:"new"`     // RELAY_TOKEN is what is sent and signed with
	Waiting []string `json:"waiting"` // stations alive that do not know RELAY_TOKEN yet
}

// RelayStatus is the relay process under this daemon.
type RelayStatus struct {
	State    string `json:"state"` // none, starting, running or stopping
	PID      int    `json:"pid"`   // 0 while there is none
	Restarts int    `json:"restarts"`
	Since    string `json:"since"` // RFC 3339, time of the last change of State

	// Left out while the relay has not failed within its last minute of service.
	Failures  int    `json:"failures,omitempty"`    // in a row
	LastEnd   string `json:"last_end,omitempty"`    // why the last of them was
	LastEndAt string `json:"last_end_at,omitempty"` // RFC 3339
	NextTry   string `json:"next_try,omitempty"`    // RFC 3339; only while one is waited for
}

// FenceStatus says how long the relay may run if nothing more is heard.
type FenceStatus struct {
	LeftMS int64  `json:"left_ms"` // 0 unless this member leads
	By     string `json:"by"`      // share, vouches or ttl; empty unless leading
}

// ShareStatus is the folder that holds the lease.
type ShareStatus struct {
	Path     string `json:"path"`
	ID       string `json:"id"`         // share id, empty while unknown
	State    string `json:"state"`      // ok, or the reason why not
	LastOKMS int64  `json:"last_ok_ms"` // since its last answer; -1 if it never answered
	CreateMS int64  `json:"create_ms"`  // duration of the last acknowledged create
}

// GossipStatus is the cluster as memberlist sees it.
type GossipStatus struct {
	Alive  int `json:"alive"`  // members alive, this one included
	Health int `json:"health"` // 0 is good; higher means this PC answers late
}

// Event is one line of watch: something changed.
type Event struct {
	Time    time.Time       `json:"time"`
	Kind    string          `json:"kind"`              // now, role, member, relay, share, note, missed
	Text    string          `json:"text"`              // one line for people
	Fact    reason.Reason   `json:"fact,omitzero"`     // the same with a code
	Because []reason.Reason `json:"because,omitempty"` // why it happened
	Warn    bool            `json:"warn,omitempty"`
	Station string          `json:"station,omitempty"`
	Role    string          `json:"role,omitempty"`
	Epoch   uint64          `json:"epoch,omitempty"`
	Rev     uint64          `json:"rev,omitempty"`
}
