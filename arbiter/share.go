package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// pollAway is POLL for members that gossip keeps informed: off the roster, with
// a leader known alive, which says that it leads.
const pollAway = 10 * time.Second

// readShare uses the read lane for whatever is most urgent.
func (m *Machine) readShare() {
	if m.reading.busy() {
		return
	}
	c := &m.chain
	half := m.cfg.Beat / 2
	if len(c.doubtful) > 0 {
		m.read(c.doubtful[0])
		return
	}
	if t := m.tenure; t != nil && t.contested != 0 && m.after(c.lookedAt, half) {
		m.read(t.contested)
		return
	}
	if !c.listed || m.taking.want && m.after(c.listTry, half) || m.after(c.listTry, m.poll()) {
		m.list()
		return
	}
	if c.share == "" || c.missing || m.tenure != nil || c.head.rev == 0 {
		return
	}
	// A head that is only unread is given a moment to be read first.
	if rev := m.digFor(); rev != 0 && (c.head.entry.Kind != lease.Unread || m.after(c.head.seen, unreadFor)) && m.after(c.lookedAt, digPause) {
		m.read(rev)
		return
	}
	if rev, every := m.lookFor(half); m.after(c.lookedAt, every) {
		m.read(rev)
	}
}

// unreadFor is how long a new head is read for eagerly before it counts as one
// that cannot be read.
const unreadFor = 2 * time.Second

// digPause separates the reads below an unreadable head: there is time, up to
// TTL_MAX, and the share has others to serve.
const digPause = 50 * time.Millisecond

// lookFor returns which rev to read next, and how often.
func (m *Machine) lookFor(half time.Duration) (uint64, time.Duration) {
	c := &m.chain
	hurry := m.hurrying()
	switch {
	case c.head.entry.Kind == lease.Unread && m.now-c.head.seen < unreadFor:
		return c.head.rev, half
	case hurry:
		return c.head.rev + 1, half
	case c.head.entry.Kind == lease.Unread || c.head.entry.Kind == lease.Unknown && !c.headRead:
		return c.head.rev, m.poll()
	default:
		return c.head.rev + 1, m.poll()
	}
}

// after reports whether period has passed since t, and asks for a Tick when it
// will have.
func (m *Machine) after(t, period time.Duration) bool {
	if m.now >= t+period {
		return true
	}
	m.wakeAt(t + period)
	return false
}

func (m *Machine) list() {
	o := m.nextOp(0)
	o.list = true
	m.reading = o
	m.chain.listTry, m.chain.listed = m.now, true
	m.emit(List{Op: o.id})
}

func (m *Machine) read(rev uint64) {
	o := m.nextOp(rev)
	m.reading = o
	m.chain.lookedAt = m.now
	m.chain.headRead = rev == m.chain.head.rev
	m.emit(Read{Op: o.id, Share: m.chain.share, Rev: rev})
}

// poll is how often the share is looked at when nothing is wrong.
func (m *Machine) poll() time.Duration {
	h, ok := m.chain.head.held()
	if !ok || m.tenure != nil || m.chain.missing || h.OnRoster(m.cfg.Self) {
		return m.cfg.Poll
	}
	for _, p := range m.peers.rows {
		if p.ID == h.Owner && p.Alive && p.Leads {
			return max(m.cfg.Poll, pollAway)
		}
	}
	return m.cfg.Poll
}

// housekeep deletes what a listing has long shown superseded (rule 9).
func (m *Machine) housekeep() {
	c := &m.chain
	if m.tenure == nil || !m.tenure.started || m.sweeping.busy() || len(c.superseded) == 0 {
		return
	}
	if !m.after(m.sweptAt, m.cfg.Poll) || !m.after(c.superseded[0].from, retention) {
		return
	}
	revs := m.sweepable(m.sweptTo)
	if len(revs) == 0 {
		m.sweptTo = 0 // from the lowest again, where some may have resisted
		if revs = m.sweepable(0); len(revs) == 0 {
			return
		}
	}
	m.sweptTo = revs[len(revs)-1]
	o := m.nextOp(0)
	m.sweeping, m.sweptAt = o, m.now
	m.emit(Housekeep{Op: o.id, Share: c.share, Revs: revs})
}

// sweepMost bounds one round of housekeeping, so that a share that is slow to
// delete is not asked for minutes on end.
const sweepMost = 64

func (m *Machine) housekept(ev Housekept) {
	if ev.Op != m.sweeping.id {
		return
	}
	m.sweeping = op{}
	if failed := ev.Outcome != OK; failed != m.sweepFails {
		m.sweepFails = failed
		if failed {
			m.say(true, reason.Reason{Code: reason.SweepFails, How: ev.Outcome.String()})
		}
	}
}

// sweepable are the next revs to delete, above the last ones tried: one that
// cannot be deleted must not keep the others.
func (m *Machine) sweepable(above uint64) []uint64 {
	var revs []uint64
	for _, s := range m.chain.superseded {
		if m.now < s.from+retention || len(revs) == sweepMost {
			break
		}
		if s.rev > above {
			revs = append(revs, s.rev)
		}
	}
	return revs
}

// published is what the view was last asked to say.
type published struct {
	rev   uint64
	epoch uint64
	ready bool
	at    time.Duration
	sure  bool
}

// publish keeps relay_leader.json after the chain.
func (m *Machine) publish() {
	t := m.tenure
	if !t.started || m.publishing.busy() {
		return
	}
	v := published{rev: t.acked.rec.Rev, epoch: t.epoch, ready: m.relay.phase == RelayRunning}
	last := m.shownView
	if v.rev == last.rev && v.epoch == last.epoch && v.ready == last.ready {
		if last.sure || !m.after(last.at, m.cfg.Poll) {
			return
		}
	}
	v.at = m.now
	o := m.nextOp(v.rev)
	m.publishing, m.shownView = o, v
	m.emit(Publish{Op: o.id, Record: t.acked.rec, Ready: v.ready, PID: m.relay.pid})
}

func (m *Machine) published(ev Published) {
	if ev.Op != m.publishing.id {
		return
	}
	m.publishing = op{}
	m.shownView.sure = ev.Outcome == OK
}

// watch keeps the connection to the leader's daemon for whom it helps: members
// of its roster.
func (m *Machine) watch() {
	want := lease.ID{}
	if h, ok := m.chain.head.held(); ok && m.tenure == nil && !m.me(h.Owner) && h.OnRoster(m.cfg.Self) {
		want = h.Owner
	}
	if want != m.watched {
		m.watched = want
		m.emit(Watch{ID: want})
	}
}
