package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// Action is something the machine wants done. Actions of one Step must be
// begun in the order given; in particular a Kill, Until or StartRelay before
// whatever follows it. Operations on the share are carried out in workers, one
// lane per kind (create, read, publish, housekeep), and their results come back
// as events. The machine never has two operations of one lane under way.
type Action interface{ isAction() }

type (
	// List asks which revisions the chain has (read lane; answered by Listed).
	List struct{ Op OpID }

	// Read asks for the body of a revision (read lane; answered by ReadDone).
	Read struct {
		Op    OpID
		Share string
		Rev   uint64
	}

	// Create creates a record exclusively (create lane; answered by Created).
	Create struct {
		Op    OpID
		Share string
		Rev   uint64
		Body  []byte
	}

	// Found moves a new chain into place (create lane; answered by Founded).
	// Genesis is its first record, already released, so that every member sees
	// the same head.
	Found struct {
		Op      OpID
		Share   string
		Rev     uint64
		Genesis []byte
	}

	// Publish replaces relay_leader.json (publish lane; answered by Published).
	Publish struct {
		Op     OpID
		Record lease.Record
		Ready  bool
		PID    int // pid of the relay, 0 while unknown
	}

	// Housekeep removes superseded records (housekeep lane; Housekept).
	Housekeep struct {
		Op    OpID
		Share string
		Revs  []uint64
	}

	// SendBeat sends the acknowledged record to these members, best effort.
	SendBeat struct {
		To   []lease.ID
		Num  uint64
		Body []byte
	}

	// SendVouch answers beat Num of the leader To, best effort.
	SendVouch struct {
		To  lease.ID
		Num uint64
	}

	// SendHead tells a member of a newer record, best effort; with Reliable
	// over a connection (the notice of a release to its successor).
	SendHead struct {
		To       lease.ID
		Body     []byte
		Reliable bool
	}

	// StartRelay starts a guard, and it the relay, which may live until Until.
	// Gen grows by one per start and is never zero. The guard acknowledges
	// this first deadline as Seq.
	StartRelay struct {
		Gen, Seq uint64
		Epoch    uint64
		Until    time.Duration
	}

	// SetUntil moves the deadline of the running guard, either way.
	SetUntil struct {
		Gen, Seq uint64
		Until    time.Duration
	}

	// SetWill hands the guard what it needs for the last will: the newest
	// acknowledged record, and the highest rev this tenure has begun to create.
	// If the daemon dies the guard creates a release of this tenure at exactly
	// Record.Rev+1, going on only over records that are verifiably this run's
	// and not above Tip: what is above was begun after the daemon had given
	// this guard up, and a relay may be running on it.
	SetWill struct {
		Gen    uint64
		Record lease.Record
		Tip    uint64
	}

	// StopRelay ends the relay; RelayDown follows. A zero Grace kills it at
	// once; otherwise it is asked first.
	StopRelay struct {
		Gen   uint64
		Grace time.Duration
	}

	// Watch names the leader whose daemon a roster member stays connected to;
	// zero drops the connection.
	Watch struct{ ID lease.ID }

	// Report says that something happened, and why if that is known.
	Report struct {
		Warn    bool
		Reason  reason.Reason
		Because []reason.Reason
	}

	// Finished says that a final handoff is over: the daemon may exit.
	Finished struct{}
)

func (List) isAction()       {}
func (Read) isAction()       {}
func (Create) isAction()     {}
func (Found) isAction()      {}
func (Publish) isAction()    {}
func (Housekeep) isAction()  {}
func (SendBeat) isAction()   {}
func (SendVouch) isAction()  {}
func (SendHead) isAction()   {}
func (StartRelay) isAction() {}
func (SetUntil) isAction()   {}
func (SetWill) isAction()    {}
func (StopRelay) isAction()  {}
func (Watch) isAction()      {}
func (Report) isAction()     {}
func (Finished) isAction()   {}
