package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// tenure is the time this run holds the lease, from the acknowledged record
// that won it to its expiry, loss or release.
type tenure struct {
	no    uint64
	epoch uint64
	acked attempt // newest acknowledged held record
	// tip is the highest rev known to be this tenure's own: acknowledged, or
	// created without its body.
	tip   uint64
	begun uint64 // highest rev of this tenure whose create has begun

	started   bool          // a relay was started; from then on a passed deadline is final
	lostTip   uint64        // highest rev begun when a guard was lost: no start before a higher one is acknowledged
	lostOp    OpID          // newest operation then
	confirm   time.Duration // a record begun after this is wanted soon
	lastTry   time.Duration // begin of the newest create
	lastOp    OpID          // the newest renewal
	nextBeat  time.Duration
	beat      uint64
	beats     []sentBeat
	vouchers  []voucher
	ending    *ending
	failing   bool          // the newest create of this tenure came to nothing
	noEnding  time.Duration // no handoff before, unless the daemon stops
	contested uint64        // rev that exists and may be this tenure's own: to be read
	since     time.Duration
	waitSeq   uint64 // a staged create waits until the guard has acknowledged this
}

// sentBeat remembers when a beat was sent: a vouch counts from then.
type sentBeat struct {
	num uint64
	at  time.Duration
}

// win begins a tenure with a record whose create was acknowledged (rule 1).
func (m *Machine) win(a attempt) {
	m.taking.tenures++
	m.tenure = &tenure{
		no: a.tenure, epoch: a.rec.Epoch, acked: a, tip: a.rec.Rev,
		lastTry: a.begun, nextBeat: m.now, beat: m.relay.lastBeat, since: m.now,
	}
	m.chain.head = head{rev: a.rec.Rev, seen: m.now, own: true,
		entry: lease.Entry{Rev: a.rec.Rev, Kind: lease.Valid, Record: a.rec, Body: a.body}}
	m.remember(a.rec)
	m.dropSettled()
	r := reason.Reason{Code: reason.TookLease, Rev: a.rec.Rev, Epoch: a.rec.Epoch, How: a.rec.Reason}
	if m.peers.heard {
		r = r.For(m.now - m.peers.beatAt)
	}
	m.say(false, r)
}

// acknowledge takes in that a renewal of the running tenure was created.
func (m *Machine) acknowledge(a attempt) {
	t := m.tenure
	t.acked, t.tip = a, max(t.tip, a.rec.Rev)
	t.contested = 0
	m.chain.head = head{rev: a.rec.Rev, seen: m.now, own: true,
		entry: lease.Entry{Rev: a.rec.Rev, Kind: lease.Valid, Record: a.rec, Body: a.body}}
	m.remember(a.rec)
	m.dropSettled()
	m.setWill()
}

// setWill keeps the guard's last will up to date.
func (m *Machine) setWill() {
	t := m.tenure
	if m.relay.phase != RelayNone {
		m.emit(SetWill{Gen: m.relay.gen, Record: t.acked.rec, Tip: max(t.begun, t.acked.rec.Rev)})
	}
}

// claimed is what others may believe of this tenure (rule 2).
func (m *Machine) claimed() claim {
	t := m.tenure
	c := claim{begun: t.acked.begun}
	c.add(t.acked.rec)
	for _, a := range m.attempts.open {
		if a.share != m.chain.share || a.rec.Rev <= t.acked.rec.Rev {
			continue
		}
		c.add(a.rec)
	}
	return c
}

// deadline is when the relay of this tenure must be dead at the latest, less
// the time it takes to kill it.
func (m *Machine) deadline() (time.Duration, string) {
	c := m.claimed()
	return c.deadline(m.vouchedAt, KillMargin(c.fence))
}

// expire ends a tenure whose deadline has passed. It is the first thing every
// Step does, before the event is looked at (rule 2: expired is final).
func (m *Machine) expire() {
	t := m.tenure
	if t == nil {
		return
	}
	if t.started {
		if until, by := m.deadline(); m.now >= until {
			m.endTenure(reason.Reason{Code: expiry(by)})
		}
		return
	}
	if c := m.claimed(); m.now >= c.begun+c.ttl-KillMargin(c.fence) {
		m.endTenure(reason.Reason{Code: reason.EndedUnstarted})
	}
}

func expiry(by string) reason.Code {
	switch by {
	case "share":
		return reason.EndedByShare
	case "vouches":
		return reason.EndedByVouches
	default:
		return reason.EndedByTTL
	}
}

// endTenure drops the lease at once: the relay is killed, nothing of this
// tenure is created any more.
func (m *Machine) endTenure(why reason.Reason) {
	if m.tenure == nil {
		return
	}
	m.relay.lastBeat = m.tenure.beat
	m.tenure = nil
	m.killRelay()
	m.attempts.dropUnsent()
	m.say(true, why)
	m.dropSettled()
}

// holderSees judges a rev above this tenure's own newest (rule 6). It returns
// true if the head should move to it.
func (m *Machine) holderSees(e lease.Entry) bool {
	t := m.tenure
	if e.Rev <= t.tip {
		return false
	}
	if !m.attempts.tried(m.chain.share, e.Rev, 0) {
		m.lose(e)
		return m.tenure == nil
	}
	if m.creating.busy() && m.creating.rev == e.Rev && e.Kind == lease.Unread {
		return false // the create's own outcome will tell
	}
	if e.Kind == lease.Unread {
		t.contested = e.Rev
		return false
	}
	if m.creating.busy() && m.creating.rev == e.Rev {
		if _, mine := m.attempts.ours(m.chain.share, e, t.no); mine {
			return false
		}
	}
	if a, ok := m.attempts.adoptable(m.chain.share, e, t.no); ok && m.mayAdopt(a) {
		m.acknowledge(a)
		return false
	}
	if a, ok := m.attempts.ours(m.chain.share, e, t.no); ok {
		t.contested, t.tip = 0, max(t.tip, e.Rev)
		if a.rec.State == lease.Released {
			m.releaseDone(a)
		}
		return false
	}
	m.lose(e)
	return m.tenure == nil
}

// mayAdopt: a tenure that has attempted its release adopts nothing any more.
func (m *Machine) mayAdopt(a attempt) bool {
	t := m.tenure
	return t.ending == nil || !t.ending.released
}

// lose is rule 6: somebody else has a higher record.
func (m *Machine) lose(e lease.Entry) {
	r := reason.Reason{Code: reason.EndedByUnknown, Rev: e.Rev}
	if e.Kind == lease.Valid {
		r.Code, r.Station = reason.EndedByOther, e.Record.Station
	}
	m.endTenure(r)
}

// runTenure does the holder's duties.
func (m *Machine) runTenure() {
	if m.tenure == nil {
		m.finish()
		return
	}
	m.yieldLead()
	m.beatRoster()
	m.startRelay()
	m.leave()
	if m.tenure == nil {
		m.finish()
		return
	}
	m.renew()
	m.moveDeadline()
	m.publish()
	if until, _ := m.deadline(); m.tenure.started {
		m.wakeAt(until)
	} else {
		m.wakeAt(m.tenure.acked.begun + m.tenure.acked.rec.TTL - KillMargin(m.tenure.acked.rec.Fence))
	}
}

// renew creates the tenure's next record when one is due (rule 8).
func (m *Machine) renew() {
	t := m.tenure
	if a := m.attempts.unsent(); a != nil {
		m.sendStaged(a)
		return
	}
	if !t.started { // rule 5: no create between winning and starting
		return
	}
	if m.creating.busy() || t.contested != 0 || t.ending != nil && t.ending.released {
		return
	}
	due, reason := m.renewDue()
	if m.now < due {
		m.wakeAt(due)
		return
	}
	r := m.record(max(t.tip, t.acked.rec.Rev)+1, t.epoch, lease.Held, reason)
	r.Roster = m.roster()
	shorter := m.claimed().shortened(r)
	a := m.stage(r, t.no)
	if a == nil {
		t.lastTry = m.now
		return
	}
	if shorter && m.relay.phase != RelayNone {
		m.moveDeadline()
		t.waitSeq = m.relay.seq
	} else {
		t.waitSeq = 0
	}
	m.sendStaged(a)
}

// renewDue returns when the next renewal is due, and why.
func (m *Machine) renewDue() (time.Duration, string) {
	t := m.tenure
	short := t.acked.rec.Fence / 3
	due, reason := t.lastTry+m.cfg.Renew, lease.Renewal
	switch {
	case t.acked.rec.Rev <= t.lostTip, t.confirm > t.acked.begun, t.ending != nil && t.ending.wantsRecord(t):
		due, reason = t.lastTry+short, "confirm"
		if t.lastTry < t.confirm || t.lostOp != 0 && t.lastOp <= t.lostOp || t.ending != nil && t.lastTry < t.ending.at {
			due = m.now
		}
	case !m.allVouched(m.now - t.acked.rec.Fence/2):
		due = t.lastTry + short
	case m.rosterChanged():
		due, reason = t.lastTry+short, "roster"
	}
	return due, reason
}

// sendStaged begins the create of a staged renewal once the guard has
// acknowledged a deadline that already counts it (rule 2).
func (m *Machine) sendStaged(a *attempt) {
	t := m.tenure
	if m.relay.phase != RelayNone && m.relay.acked < t.waitSeq {
		return
	}
	m.send(a)
	t.lastTry, t.lastOp = m.now, a.op
}
