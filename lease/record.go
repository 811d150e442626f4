package lease

import "time"

// Version is the record format this build writes and understands. A record
// with a larger v makes its reader ineligible: it must not be overruled by
// somebody who cannot read it.
const Version = 1

// Limits of the format. They are constants, not settings, because every member
// must agree on them before it has read anything.
const (
	// TTLMax bounds every LEASE_TTL; it is what a reader assumes of a record
	// whose own figures it cannot verify.
	TTLMax = 20 * time.Second
	// RosterMax bounds the roster, so that a record fits a beat and the
	// leader's cost does not grow with the site.
	RosterMax = 7
	// MaxBody is the largest encoded record in bytes; it rides in UDP beats.
	MaxBody = 1000
	// MaxRev is the largest rev a ten-digit file name can carry.
	MaxRev = 9_999_999_999
)

// ID names one daemon run on one node. Rosters, vouches and "is this mine?"
// always compare both: a cloned PC shares its node but never its run.
type ID struct {
	Node string // UUID kept in STATE_DIR
	Run  string // random per daemon start, 12 hex digits
}

// String returns "node/run", the form used in records and logs.
func (id ID) String() string { return id.Node + "/" + id.Run }

// IsZero reports whether the ID names nobody.
func (id ID) IsZero() bool { return id == ID{} }

// State says whether the holder of a record claims the lease or gave it back.
type State string

// The two states of a record.
const (
	Held     State = "held"
	Released State = "released"
)

// Record is one link of the chain: what the creator of revision Rev claimed.
// It is immutable once created.
type Record struct {
	Share     string // share id the record belongs to
	KMSN      string // site
	Station   string // station code of the creator
	Rev       uint64 // record number, +1 per record
	Epoch     uint64 // tenure number, +1 per relay tenure
	Owner     ID     // creator
	Boot      string // hash of machine id, boot and network addresses
	State     State
	Reason    string // why it was created: "takeover", "renew", "handoff", …
	Successor ID     // in a release: the member asked to take over, or zero
	IP        string // LAN address of the relay (IPv4)
	Port      int    // RELAY_PORT; RELAY_PORT+1 belongs to the relay too
	PID       int    // pid of the creator's daemon
	TTL       time.Duration
	Fence     time.Duration
	Roster    []ID // members that may take over after FENCE', best first
	// LeaseUntil is for human and Harbour readers: the creator's local time
	// YYYYMMDDHHMMSS. Nothing in floatrelay compares it with a clock.
	LeaseUntil string
}

// Renewal is the Reason of a record that only goes on with a tenure.
const Renewal = "renew"

// SameTenure reports whether two records belong to one tenure of one run.
func (r Record) SameTenure(o Record) bool {
	return r.Owner == o.Owner && r.Epoch == o.Epoch && r.Share == o.Share
}

// OnRoster reports whether id may take over after FENCE'.
func (r Record) OnRoster(id ID) bool {
	for _, m := range r.Roster {
		if m == id {
			return true
		}
	}
	return false
}

// Kind says what is known of a revision's body. Only Valid may be believed;
// everything else is "unknown", for different reasons.
type Kind uint8

// The kinds of knowledge about a body.
const (
	Unread  Kind = iota // the revision exists; its body has not been read
	Valid               // MAC, share, KMSN and rev all match
	Unknown             // empty, damaged, or not signed with our token
	Foreign             // readable, but of another KMSN
	Newer               // readable, but of a newer format version
)

// String returns the kind's lower-case name.
func (k Kind) String() string {
	return [...]string{"unread", "valid", "unknown", "foreign", "newer"}[k]
}

// Flaw says what is wrong with a body that is not Valid.
type Flaw uint8

// The flaws. Named in an Entry is what the unverified bytes say of themselves.
const (
	NoFlaw      Flaw = iota // Valid, or not looked at
	Empty                   // no byte was written
	Damaged                 // no record, or torn
	OtherToken              // another RELAY_TOKEN signed it, or it was changed; Named: its station
	OtherSite               // Named: its KMSN
	NewerFormat             // Named: its version
	NoFile                  // a link, a FIFO, a device or a folder bears the name
	Misplaced               // a good record of another share or revision
)

// Entry is one revision as seen by a reader.
type Entry struct {
	Rev    uint64
	Kind   Kind
	Record Record // only meaningful when Kind is Valid
	Body   []byte // the exact bytes, for comparison and for beats
	Flaw   Flaw
	Named  string // see Flaw
	// Cause is where the damage is, for whoever looks into the file: "broken JSON
	// in field "pid": EOF". Nothing is decided by it.
	Cause string
}

// IrregularEntry is the entry of a revision whose read failed with
// ErrIrregular.
func IrregularEntry(rev uint64, err error) Entry {
	return Entry{Rev: rev, Kind: Unknown, Flaw: NoFile, Cause: IrregularCause(err)}
}
