package arbiter

import (
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// created takes in how a create ended.
func (m *Machine) created(ev Created) {
	if ev.Op != m.creating.id {
		return
	}
	rev := m.creating.rev
	m.creating = op{}
	a, ok := m.attempts.of(ev.Op)
	if !ok {
		return
	}
	if ev.Outcome == OK || ev.Outcome == Exists || ev.Outcome == NoBody {
		m.answer()
		m.chain.denied = false
	}
	if a.share != m.chain.share {
		return
	}
	if m.tenure != nil && a.tenure == m.tenure.no {
		m.renewed(ev.Outcome, a)
		return
	}
	m.took(ev.Outcome, a, rev)
}

// renewed takes in the outcome of a create of the running tenure.
func (m *Machine) renewed(out Outcome, a attempt) {
	t := m.tenure
	m.tellRenewals(out)
	switch out {
	case OK:
		m.shown(a.rec.Rev)
		if a.rec.State == lease.Released {
			m.releaseDone(a)
			return
		}
		m.acknowledge(a)
		m.createTook = m.now - a.begun
	case Exists:
		m.shown(a.rec.Rev)
		e := lease.Entry{Rev: a.rec.Rev}
		switch {
		case m.attempts.tried(a.share, a.rec.Rev, a.op):
			t.contested = a.rec.Rev // perhaps an earlier attempt of ours got through
		default:
			m.lose(e)
			m.observe(e)
		}
	case NoBody:
		t.tip = max(t.tip, a.rec.Rev)
	case NotExist:
		// Without a chain there is nothing to release, and nobody to tell: a PC
		// that stops need not wait for its lease to run out.
		if t.ending != nil && t.ending.released && m.chain.missing {
			m.endTenure(reason.Reason{Code: reason.EndedFolderGone})
			return
		}
	}
}

// took takes in the outcome of a create outside a tenure: a takeover, or one of
// a tenure that has ended meanwhile.
func (m *Machine) took(out Outcome, a attempt, rev uint64) {
	switch out {
	case OK:
		m.shown(rev)
		if m.tenure == nil && m.won(a) {
			m.win(a)
			return
		}
		m.observe(lease.Entry{Rev: rev, Kind: lease.Valid, Record: a.rec, Body: a.body})
	case Exists:
		m.shown(rev)
		m.observe(lease.Entry{Rev: rev})
		m.chain.lookedAt = 0
	case NoBody:
		m.observe(lease.Entry{Rev: rev, Kind: lease.Unknown, Flaw: lease.Empty})
		if m.chain.head.rev == rev {
			m.chain.head.own = true
		}
	case Denied: // the share answered: this create has not happened and will not
		m.denied()
		m.attempts.forget(a.op)
	default:
		m.chain.lookedAt = 0
	}
}

// denied notes that this account may not write, which is no contention: the
// member steps back for a while and says so.
func (m *Machine) denied() {
	m.answer()
	m.chain.deniedAt, m.chain.denied = m.now, true
}

// won reports whether an acknowledged takeover counts (rules 1 and 4).
func (m *Machine) won(a attempt) bool {
	c := &m.chain
	top := c.head.rev == a.rec.Rev-1 || c.head.rev == a.rec.Rev && c.head.own
	return top && a.rec.State == lease.Held && a.tenure == m.taking.tenures &&
		m.relay.phase == RelayNone && len(m.ineligible()) == 0 &&
		c.listedOnce && m.now-c.listedAt < listingAge &&
		m.now < a.begun+a.rec.TTL-KillMargin(a.rec.Fence)
}

// adoptTaking wins with a record whose create's outcome was unknown, once its
// body has been found (rule 1).
func (m *Machine) adoptTaking(e lease.Entry) {
	if m.tenure != nil || e.Kind != lease.Valid || m.creating.busy() || m.taking.tenures == 0 {
		return
	}
	if a, ok := m.attempts.adoptable(m.chain.share, e, m.taking.tenures); ok && m.won(a) {
		m.win(a)
	}
}

// tellRenewals says once that the share refuses the leader's records, and once
// that it takes them again.
func (m *Machine) tellRenewals(out Outcome) {
	failing := out != OK && out != Exists
	if failing == m.tenure.failing {
		return
	}
	m.tenure.failing = failing
	if !failing {
		m.say(false, reason.Reason{Code: reason.RenewalBack})
		return
	}
	if out == NotExist {
		m.say(true, reason.Reason{Code: reason.RenewalNoFolder})
		return
	}
	m.say(true, reason.Reason{Code: reason.RenewalFails, How: out.String()})
}
