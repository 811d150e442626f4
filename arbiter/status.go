package arbiter

import (
	"slices"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// Role is what this member is to the site right now.
type Role uint8

// The roles.
const (
	// Client follows somebody else's lease, or waits for one.
	Client Role = iota
	// Candidate may take the lease over now, or is about to.
	Candidate
	// Leader holds the lease; its relay runs, starts or is being stopped.
	Leader
	// Ineligible may not lead; Status.Reasons say why.
	Ineligible
)

// String returns the role's lower-case name, as shown to users.
func (r Role) String() string {
	return [...]string{"client", "candidate", "leader", "ineligible"}[r]
}

// Phase is the life of the relay tree under this daemon.
type Phase uint8

// The phases.
const (
	RelayNone     Phase = iota // no tree of ours exists
	RelayStarting              // guard started, relay not ready
	RelayRunning               // relay ready
	RelayStopping              // told to end, not yet known dead
)

// String returns the phase's lower-case name, as shown to users.
func (p Phase) String() string {
	return [...]string{"none", "starting", "running", "stopping"}[p]
}

// Status is a snapshot of the machine for people, the API and gossip meta.
type Status struct {
	Role     Role
	Eligible bool
	Reasons  []reason.Reason // why not eligible, or what is odd
	Share    string          // share id of the chain followed, or empty
	Rev      uint64          // head
	Epoch    uint64          // epoch of the newest readable record
	Head     lease.Entry
	HeadSeen time.Duration // boot time when the head was first observed
	KnownRev uint64        // newest readable record ever known; Epoch belongs to it

	Relay    Phase
	Gen      uint64
	RelayPID int
	Restarts int
	Failures RelayFailures
	Since    time.Duration // boot time of the last change of Relay

	Deadline time.Duration // boot time until which the relay may run; zero if none
	By       string        // what sets the deadline: "share", "vouches" or "ttl"
	ShareOK  time.Duration // boot time of the last answer of the share; zero if none yet
	CreateMS int64         // duration of the last acknowledged create in ms
	Roster   []lease.ID
}

// Status returns a snapshot as of the last Step.
func (m *Machine) Status() Status {
	c := &m.chain
	wake := m.wake
	why := m.ineligible()
	m.wake = wake // a look must not change when the machine wakes
	s := Status{
		Role: m.role(why), Eligible: len(why) == 0 && m.now >= m.crashes.until, Reasons: why,
		Rev: c.head.rev, Epoch: c.known.epoch, Head: c.head.entry, HeadSeen: c.head.seen, KnownRev: c.known.rev,
		Relay: m.relay.phase, Gen: m.relay.gen, RelayPID: m.relay.pid,
		Restarts: m.relay.restarts, Since: m.relay.since,
		CreateMS: m.createTook.Milliseconds(), Failures: m.relayFailures(),
	}
	if c.answered {
		s.ShareOK = c.okAt
		if m.now-c.okAt <= lease.TTLMax && (!c.missing || m.tenure != nil) {
			s.Share = c.share // a share out of reach, or gone, must not outrank one in use
		}
	}
	if len(why) == 0 {
		s.Reasons = m.oddities()
	}
	if m.tenure != nil {
		s.Deadline, s.By = m.deadline()
		s.Roster = m.tenure.acked.rec.Roster
	} else if h, ok := c.head.held(); ok {
		s.Roster = h.Roster
	}
	return s
}

// oddities are what is odd and no reason not to lead.
func (m *Machine) oddities() []reason.Reason {
	c := &m.chain
	if !c.missing || c.share == "" {
		return HeadReasons(c.share, m.cfg.KMSN, c.head.entry)
	}
	all := because(reason.FolderGone)
	if p, ok := m.chainNamed(); ok && m.tenure == nil {
		all = append(all, reason.Reason{Code: reason.FolderOther, Station: p.Station, Addr: p.Addr})
	}
	return all
}

func (m *Machine) role(why []reason.Reason) Role {
	switch {
	case m.tenure != nil:
		return Leader
	case len(why) > 0:
		return Ineligible
	case m.creating.busy():
		return Candidate
	}
	if p, at := m.allowed(); p != pathNone && m.now >= at {
		return Candidate
	}
	return Client
}

// report says a change of role, leader or reason once.
func (m *Machine) report() {
	if m.tenure == nil && m.chain.head.rev != 0 && m.chain.head.entry.Kind == lease.Unread && !m.told.Reason.IsZero() {
		return // a moment later it will be known who leads
	}
	why := m.ineligible()
	r := reason.Reason{Code: reason.RoleIs, Role: m.role(why).String()}
	if h, ok := m.chain.head.held(); ok && m.tenure == nil {
		r.Code, r.Station = reason.RoleFollows, h.Station
		if m.cfg.Self.Node == h.Owner.Node && m.cfg.Station == h.Station {
			r.Code = reason.RoleOwnLease
		}
	}
	if r != m.told.Reason || !slices.Equal(why, m.told.Because) {
		m.told = Report{Reason: r, Because: why}
		m.emit(m.told)
	}
}
