package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// ending is a tenure on its way out (rule 7).
type ending struct {
	to       lease.ID
	reason   string
	at       time.Duration // when it was asked for
	stopped  bool          // the relay was told to end
	released bool          // a release was attempted: this tenure never runs again
	lastTry  time.Duration
}

// wantsRecord reports whether the handoff still waits for the acknowledged
// renewal it begins with.
func (e *ending) wantsRecord(t *tenure) bool { return !e.stopped && t.acked.begun < e.at }

// askedToLeave takes in a wish to hand the lease over.
func (m *Machine) askedToLeave(ev Handoff) {
	if ev.Final {
		m.stop = ev
	}
	switch {
	case m.tenure == nil:
	case !ev.Final && !m.othersEligible():
		m.say(true, reason.Reason{Code: reason.HandoffNobody, How: ev.Reason})
	case !ev.To.IsZero() && !m.eligiblePeer(ev.To) && !ev.Final:
		m.say(true, reason.Reason{Code: reason.HandoffUnfit, Found: ev.To.String()})
	default:
		m.beginEnding(ev)
	}
}

func (m *Machine) beginEnding(ev Handoff) {
	if m.tenure == nil || m.tenure.ending != nil {
		return
	}
	m.tenure.ending = &ending{to: ev.To, reason: ev.Reason, at: m.now}
	m.say(false, reason.Reason{Code: reason.HandingOver, How: ev.Reason})
}

// leave does the next step of a handoff: confirm, stop the relay, release.
func (m *Machine) leave() {
	t := m.tenure
	e := t.ending
	if e == nil {
		return
	}
	if !e.stopped {
		patience := e.at + t.acked.rec.Fence
		if m.relay.phase != RelayNone && e.wantsRecord(t) && m.now < patience {
			m.wakeAt(patience)
			return
		}
		if m.relay.phase != RelayNone && e.wantsRecord(t) && !m.stop.Final {
			// A handoff begins with an acknowledged renewal: without the share it
			// would only stop a relay that may go on.
			t.ending, t.noEnding = nil, m.now+m.cfg.Renew
			m.say(true, reason.Reason{Code: reason.HandoffUnconfirmed, How: e.reason})
			return
		}
		e.stopped = true
		if m.relay.phase != RelayNone {
			m.setPhase(RelayStopping)
			m.emit(StopRelay{Gen: m.relay.gen, Grace: m.cfg.Grace})
		}
	}
	if m.relay.phase == RelayNone {
		m.release()
	}
}

// release creates the released record. Never at "head+1": the chain may have
// moved on without us, and a release there would give away somebody else's
// lease.
func (m *Machine) release() {
	t := m.tenure
	e := t.ending
	if m.creating.busy() || t.contested != 0 || m.attempts.unsent() != nil {
		return
	}
	if again := e.lastTry + t.acked.rec.Fence/3; e.released && m.now < again {
		m.wakeAt(again)
		return
	}
	r := m.record(t.tip+1, t.epoch, lease.Released, e.reason)
	r.Successor = m.successor()
	r.Roster = t.acked.rec.Roster
	a := m.stage(r, t.no)
	if a == nil {
		m.endTenure(reason.Reason{Code: reason.EndedUnreleased})
		return
	}
	e.released, e.lastTry, t.lastTry = true, m.now, m.now
	m.send(a)
}

// successor is the member asked to take over: the one named, else the best on
// the roster that vouched within FENCE/2. One whose relay has failed lately comes
// last, the latest failure at the very end.
func (m *Machine) successor() lease.ID {
	t := m.tenure
	if m.eligiblePeer(t.ending.to) {
		return t.ending.to
	}
	var best lease.ID
	for _, id := range t.acked.rec.Roster {
		v, ok := m.vouchedAt(id)
		if !ok || m.now-v > t.acked.rec.Fence/2 || !m.eligiblePeer(id) {
			continue
		}
		if best.IsZero() || m.failedLately(id) < m.failedLately(best) {
			best = id
		}
	}
	return best
}

// releaseDone ends the tenure after its released record is known to exist, and
// tells whom it concerns.
func (m *Machine) releaseDone(a attempt) {
	m.relay.lastBeat = m.tenure.beat
	told := m.tenure.acked.rec.Roster
	m.tenure = nil
	m.chain.head = head{rev: a.rec.Rev, seen: m.now, own: true,
		entry: lease.Entry{Rev: a.rec.Rev, Kind: lease.Valid, Record: a.rec, Body: a.body}}
	m.remember(a.rec)
	m.dropSettled()
	if !a.rec.Successor.IsZero() {
		m.emit(SendHead{To: a.rec.Successor, Body: a.body})
		m.emit(SendHead{To: a.rec.Successor, Body: a.body, Reliable: true})
	}
	for _, id := range told {
		if id != a.rec.Successor {
			m.emit(SendHead{To: id, Body: a.body})
		}
	}
	m.say(false, reason.Reason{Code: reason.ReleasedLease, Rev: a.rec.Rev, How: a.rec.Reason})
}

// yieldLead makes a leader that became ineligible hand over, and lets a better
// member that asked for preemption have the lease back.
func (m *Machine) yieldLead() {
	t := m.tenure
	if t.ending != nil {
		return
	}
	if m.stop.Final {
		m.beginEnding(m.stop)
		return
	}
	if m.now < t.noEnding {
		m.wakeAt(t.noEnding)
		return
	}
	if why := m.ineligible(); len(why) > 0 && m.othersEligible() {
		m.beginEnding(Handoff{Reason: "ineligible"})
		m.say(true, reason.Reason{Code: reason.LeadsIneligible}, why...)
		return
	}
	if id, ok := m.preemptor(); ok {
		m.beginEnding(Handoff{To: id, Reason: "preempted"})
	}
}

// stableFor is how long a better member must have vouched unbroken before it
// gets the lease back (RELAY_PREEMPT).
const stableFor = 30 * time.Second

// preemptor is the best of those that may have the lease back: going through a
// lesser one would change the relay twice. For the same reason a better one that
// has not vouched for long enough yet is waited for, as long as it vouches.
func (m *Machine) preemptor() (lease.ID, bool) {
	if m.now-m.tenure.since < stableFor {
		return lease.ID{}, false
	}
	var best Member
	var lasted time.Duration
	for _, p := range m.peers.rows {
		vouched, ok := m.preempts(p)
		if !ok {
			continue
		}
		if best.ID.IsZero() || better(p, best) < 0 {
			best, lasted = p, vouched
		}
	}
	return best.ID, !best.ID.IsZero() && lasted >= stableFor
}

// preempts reports whether a member that vouches may have the lease back in
// time, and for how long it has vouched unbroken.
func (m *Machine) preempts(p Member) (vouched time.Duration, ok bool) {
	if !p.Preempt || p.Priority <= m.cfg.Priority || !m.mayFollow(p) {
		return 0, false
	}
	v, ok := m.vouchedAt(p.ID)
	if !ok || m.now-v > m.tenure.acked.rec.Fence/2 {
		return 0, false
	}
	return v - m.vouchingSince(p.ID), true
}

// finish tells the driver that a stopping daemon has nothing left to give back.
func (m *Machine) finish() {
	if m.stop.Final && !m.finished && m.relay.phase == RelayNone && !m.creating.busy() {
		m.finished = true
		m.emit(Finished{})
	}
}
