package arbiter

import (
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// stage seals a record whose create is to begin. It returns nil if the record
// could not be sealed.
func (m *Machine) stage(r lease.Record, tenure uint64) *attempt {
	body, err := m.cfg.Sealer.Seal(r)
	if err != nil {
		m.say(true, reason.Reason{Code: reason.RecordUnwritable, Rev: r.Rev, Detail: err.Error()})
		return nil
	}
	return m.attempts.add(attempt{share: m.chain.share, tenure: tenure, rec: r, body: body})
}

// send begins the create of a staged attempt.
func (m *Machine) send(a *attempt) {
	o := m.nextOp(a.rec.Rev)
	m.attempts.begin(a, o.id, m.now)
	m.creating = o
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

// dropSettled forgets attempts that no longer matter: a higher rev exists, or
// the record of the running tenure is acknowledged above them.
func (m *Machine) dropSettled() {
	floor := m.chain.head.rev
	if m.tenure != nil {
		if m.tenure.acked.rec.Rev == 0 {
			return
		}
		floor = m.tenure.acked.rec.Rev + 1 // what is at or below the acknowledged record is settled
	}
	m.attempts.dropBelow(m.chain.share, floor, m.creating.id)
}
