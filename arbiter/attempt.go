package arbiter

import (
	"bytes"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// attempt is a record this run has asked the share to create, and whose outcome
// may still be open. Until a later record is acknowledged it counts as if it
// had succeeded and as if it had failed, whichever is worse.
type attempt struct {
	share  string
	tenure uint64 // number of the tenure it belongs to
	rec    lease.Record
	body   []byte
	begun  time.Duration // when its create began; earlier than the call itself
	op     OpID
	sent   bool
}

// stage seals a record whose create is to begin. It returns nil if the record
// could not be sealed.
func (m *Machine) stage(r lease.Record, tenure uint64) *attempt {
	body, err := m.cfg.Sealer.Seal(r)
	if err != nil {
		m.say(true, reason.Reason{Code: reason.RecordUnwritable, Rev: r.Rev, Detail: err.Error()})
		return nil
	}
	m.attempts = append(m.attempts, attempt{share: m.chain.share, tenure: tenure, rec: r, body: body})
	return &m.attempts[len(m.attempts)-1]
}

// send begins the create of a staged attempt.
func (m *Machine) send(a *attempt) {
	o := m.nextOp(a.rec.Rev)
	a.op, a.begun, a.sent = o.id, m.now, true
	m.creating = o
	m.taking.highest(a.share, a.rec.Rev)
	if m.tenure != nil {
		m.tenure.begun = max(m.tenure.begun, a.rec.Rev)
		m.setWill() // before the create: a guard goes over nothing it was not told of
	}
	m.emit(Create{Op: o.id, Share: a.share, Rev: a.rec.Rev, Body: a.body})
}

// record fills in what is the same in every record of this run.
func (m *Machine) record(rev, epoch uint64, state lease.State, reason string) lease.Record {
	return lease.Record{
		Share: m.chain.share, KMSN: m.cfg.KMSN, Station: m.cfg.Station, Rev: rev, Epoch: epoch,
		Owner: m.cfg.Self, Boot: m.cfg.Boot, State: state, Reason: reason,
		IP: m.cfg.IP, Port: m.cfg.Port, PID: m.cfg.PID, TTL: m.cfg.TTL, Fence: m.cfg.Fence,
	}
}

// attempted returns the index of the attempt that an operation belongs to, or
// -1.
func (m *Machine) attempted(id OpID) int {
	for i := range m.attempts {
		if m.attempts[i].op == id && m.attempts[i].sent {
			return i
		}
	}
	return -1
}

// tried reports whether this run ever began a create of rev, other than the one
// under way as skip.
func (m *Machine) tried(rev uint64, skip OpID) bool {
	for _, a := range m.attempts {
		if a.sent && a.share == m.chain.share && a.rec.Rev == rev && a.op != skip {
			return true
		}
	}
	return false
}

// adoptable finds the attempt of this tenure whose held body is, byte for byte,
// the one found (rule 1), and dates it from the first attempt at that rev.
func (m *Machine) adoptable(e lease.Entry, tenure uint64) (attempt, bool) {
	var found attempt
	ok := false
	first := never
	op := OpID(0)
	for _, a := range m.attempts {
		if !a.sent || a.share != m.chain.share || a.tenure != tenure || a.rec.Rev != e.Rev {
			continue
		}
		if op == 0 {
			op = a.op
		}
		first = min(first, a.begun)
		if bytes.Equal(a.body, e.Body) && a.rec.State == lease.Held {
			found, ok = a, true
		}
	}
	found.begun, found.op = first, op
	return found, ok
}

// ours reports whether the body found is one that this run sent in this tenure,
// held or released.
func (m *Machine) ours(e lease.Entry, tenure uint64) (attempt, bool) {
	for _, a := range m.attempts {
		if a.sent && a.share == m.chain.share && a.tenure == tenure && a.rec.Rev == e.Rev && bytes.Equal(a.body, e.Body) {
			return a, true
		}
	}
	return attempt{}, false
}

// dropSettled forgets attempts that no longer matter: a higher rev exists, or
// they belong to a chain that is gone and nobody follows from here.
func (m *Machine) dropSettled() {
	floor := m.chain.head.rev
	if m.tenure != nil {
		floor = m.tenure.acked.rec.Rev
		if m.tenure.acked.rec.Rev == 0 {
			return
		}
		floor++ // what is at or below the acknowledged record is settled
	}
	kept := m.attempts[:0]
	for _, a := range m.attempts {
		if a.share == m.chain.share && a.rec.Rev < floor && (a.op != m.creating.id || !a.sent) {
			continue
		}
		kept = append(kept, a)
	}
	m.attempts = kept
}

// forget drops the attempt of an operation that is known not to have happened.
func (m *Machine) forget(id OpID) {
	kept := m.attempts[:0]
	for _, a := range m.attempts {
		if a.op != id || !a.sent {
			kept = append(kept, a)
		}
	}
	m.attempts = kept
}

// forgetOtherChains drops attempts in chains that are not followed any more.
func (m *Machine) forgetOtherChains() {
	kept := m.attempts[:0]
	for _, a := range m.attempts {
		if a.share == m.chain.share || a.op == m.creating.id {
			kept = append(kept, a)
		}
	}
	m.attempts = kept
}
