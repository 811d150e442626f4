package arbiter

import (
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// Event is something that happened, as told to Machine.Step. Every instant in
// an event is boot time of this host.
type Event interface{ isEvent() }

// OpID ties the result of an operation on the share to the action that asked
// for it. It grows within a run and is never zero.
type OpID uint64

// Outcome is how an operation on the share ended.
type Outcome uint8

// The outcomes. Only OK is an acknowledgement.
const (
	OK          Outcome = iota // done, and known to be done
	Exists                     // the name was taken
	NotExist                   // the share answered: not there
	NoBody                     // created, but the body was not written
	Unavailable                // the share could not be asked
	Denied                     // no right to do that
	Uncertain                  // may have happened, or may happen later
)

// String returns the outcome's lower-case name.
func (o Outcome) String() string {
	return [...]string{"ok", "exists", "not-exist", "no-body", "unavailable", "denied", "uncertain"}[o]
}

type (
	// Tick says that time has passed; the driver sends it at Machine.Wake.
	Tick struct{}

	// Listed answers List. With OK and an empty Share, LEASE_DIR is there and
	// holds no chain.
	Listed struct {
		Op      OpID
		Outcome Outcome
		Share   string   // share id of the chain found
		Revs    []uint64 // ascending
	}

	// ReadDone answers Read. The entry is meaningful with OK.
	ReadDone struct {
		Op      OpID
		Outcome Outcome
		Entry   lease.Entry
	}

	// Created answers Create, whenever the call truly returned: a lane stays
	// busy for as long as its call is stuck, and no result is made up.
	Created struct {
		Op      OpID
		Outcome Outcome
	}

	// Founded answers Found.
	Founded struct {
		Op      OpID
		Outcome Outcome
	}

	// Published answers Publish.
	Published struct {
		Op      OpID
		Outcome Outcome
	}

	// Housekept answers Housekeep.
	Housekept struct {
		Op      OpID
		Outcome Outcome
	}

	// BeatReceived is a beat of a leader, opened by the codec. Beats whose
	// record is not valid are dropped before they get here.
	BeatReceived struct {
		From  lease.ID
		Num   uint64
		Entry lease.Entry
	}

	// VouchReceived answers beat Num of run Run (ours, if it is current).
	VouchReceived struct {
		From lease.ID
		Run  string
		Num  uint64
	}

	// HeadReceived is a valid record sent by a member as the newest it knows,
	// either as the answer to a stale beat or as the notice of a release.
	HeadReceived struct {
		From  lease.ID
		Entry lease.Entry
	}

	// LeaderGone says that the connection to this leader's daemon ended.
	LeaderGone struct{ ID lease.ID }

	// MembersChanged carries the whole member table, self excluded.
	MembersChanged struct{ Members []Member }

	// GuardAcked says that the guard applied the deadline sent as Seq of relay
	// generation Gen.
	GuardAcked struct{ Gen, Seq uint64 }

	// RelayReady says that the relay of generation Gen accepts connections.
	RelayReady struct {
		Gen uint64
		PID int
	}

	// RelayDown says that the whole tree of generation Gen is dead and both
	// ports are closed. Nothing of that generation runs any more.
	RelayDown struct {
		Gen   uint64
		Cause DownCause
		Note  string // word for word, for people: exit code, last words
	}

	// TreeClear says that no relay tree of an earlier run of this node is left:
	// STATE_DIR/guard.lock is held by us. Until then nothing may be started.
	TreeClear struct{}

	// Eligibility is the outside world's opinion whether this member may lead:
	// empty, or the reasons why not (drained, port held by a stranger, …).
	Eligibility struct{ Reasons []reason.Reason }

	// Known tells of a rev and its epoch heard of outside the chain (the view
	// on the share, within plausible bounds): neither may fall when a new chain
	// is founded.
	Known struct{ Rev, Epoch uint64 }

	// Moved says that this host has a new LAN address (DHCP). A leader says so
	// in its next record.
	Moved struct{ IP string }

	// Handoff asks the leader to give the lease to a member (zero: the best
	// one). Final means the daemon is stopping and must not lead again.
	Handoff struct {
		To     lease.ID
		Reason string
		Final  bool
	}
)

// Member is a row of the member table as gossip reports it.
type Member struct {
	ID       lease.ID
	Station  string
	Addr     string // address and gossip port, for messages to people
	Alive    bool   // alive or suspect; false once dead or left
	Eligible bool
	Priority int  // RELAY_PRIORITY; higher leads first, 0 never
	Preempt  bool // RELAY_PREEMPT
	Leads    bool // it says that it leads
	Share    string
	Rev      uint64 // newest rev it knows: a hint, never an observation
	Epoch    uint64
}

// DownCause says why a relay tree died.
type DownCause uint8

// The causes.
const (
	DownStopped  DownCause = iota // we asked for it
	DownDeadline                  // the guard killed it at its deadline
	DownExited                    // the relay ended by itself, whatever its exit code
	DownUnready                   // it did not become ready within RELAY_START_TIMEOUT, or stopped answering
	DownFailed                    // it could not be started at all
	DownGuard                     // the guard itself died; its last will may still be under way
)

// String returns the cause's lower-case name.
func (c DownCause) String() string {
	return [...]string{"stopped", "deadline", "exited", "unready", "failed", "guard-lost"}[c]
}

func (Tick) isEvent()           {}
func (Listed) isEvent()         {}
func (ReadDone) isEvent()       {}
func (Created) isEvent()        {}
func (Founded) isEvent()        {}
func (Published) isEvent()      {}
func (Housekept) isEvent()      {}
func (BeatReceived) isEvent()   {}
func (VouchReceived) isEvent()  {}
func (HeadReceived) isEvent()   {}
func (LeaderGone) isEvent()     {}
func (MembersChanged) isEvent() {}
func (GuardAcked) isEvent()     {}
func (RelayReady) isEvent()     {}
func (RelayDown) isEvent()      {}
func (TreeClear) isEvent()      {}
func (Eligibility) isEvent()    {}
func (Known) isEvent()          {}
func (Moved) isEvent()          {}
func (Handoff) isEvent()        {}
