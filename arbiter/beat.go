package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// following is what a member knows of the beats it hears.
type following struct {
	beatAt  time.Duration // receipt of the newest beat of the head's tenure
	heard   bool
	vouchAt time.Duration // when it last vouched
	vouched bool
	goneAt  time.Duration // when the connection to the head's owner ended
	gone    lease.ID
	nums    []beatNum // newest beat of the last few leaders
}

// beatNum is the highest beat number heard of a run: they only grow, so that a
// replayed beat changes nothing.
type beatNum struct {
	from lease.ID
	num  uint64
}

// leadersKept bounds how many runs' numbers are remembered.
const leadersKept = 16

// fresh notes a beat and reports whether it is newer than all heard of its
// sender before.
func (f *following) fresh(from lease.ID, num uint64) bool {
	for i := range f.nums {
		if f.nums[i].from == from {
			newer := num > f.nums[i].num
			f.nums[i].num = max(f.nums[i].num, num)
			return newer
		}
	}
	if len(f.nums) == leadersKept {
		f.nums = f.nums[1:]
	}
	f.nums = append(f.nums, beatNum{from, num})
	return true
}

// beatRoster sends the acknowledged record to the roster and its candidates.
func (m *Machine) beatRoster() {
	t := m.tenure
	if t.ending != nil && t.ending.stopped && m.relay.phase == RelayNone {
		return // this tenure never runs again: nobody need wait for it
	}
	if m.now < t.nextBeat {
		m.wakeAt(t.nextBeat)
		return
	}
	t.nextBeat = m.now + m.cfg.Beat
	m.wakeAt(t.nextBeat)
	to := m.beatTargets()
	if len(to) == 0 {
		return
	}
	t.beat++
	old := m.now - 2*t.acked.rec.Fence
	for len(t.beats) > 0 && t.beats[0].at < old {
		t.beats = t.beats[1:]
	}
	t.beats = append(t.beats, sentBeat{num: t.beat, at: m.now})
	m.emit(SendBeat{To: to, Num: t.beat, Body: t.acked.body})
}

// beatReceived is rule 3.
func (m *Machine) beatReceived(ev BeatReceived) {
	c := &m.chain
	r := ev.Entry.Record
	if ev.Entry.Kind != lease.Valid || ev.From != r.Owner || m.me(r.Owner) {
		return
	}
	if c.share == "" || r.Share != c.share {
		m.beatenElsewhere(r)
		return
	}
	ev.Entry.Rev = r.Rev
	if !m.peers.fresh(ev.From, ev.Num) {
		return // replayed, doubled or overtaken
	}
	m.unseen(r.Rev)
	if r.Rev >= c.head.rev {
		m.observe(ev.Entry)
	}
	if m.tenure != nil {
		if r.Rev < m.tenure.tip {
			m.emit(SendHead{To: ev.From, Body: m.tenure.acked.body})
		}
		return
	}
	h, readable := c.head.entry.Record, c.head.valid()
	same := readable && r.SameTenure(h)
	if r.Rev < c.head.rev && readable {
		m.emit(SendHead{To: ev.From, Body: c.head.entry.Body})
	}
	if r.Rev < c.head.rev && !same {
		return
	}
	if same && h.State == lease.Held {
		m.peers.beatAt, m.peers.heard = m.now, true
	}
	if m.taking.begunAbove(c.share, c.head.rev) {
		return
	}
	m.peers.vouchAt, m.peers.vouched = m.now, true
	m.emit(SendVouch{To: ev.From, Num: ev.Num})
}

// headReceived takes in a record that a member sent as the newest it knows.
func (m *Machine) headReceived(ev HeadReceived) {
	r := ev.Entry.Record
	if ev.Entry.Kind != lease.Valid || r.Share != m.chain.share || m.chain.share == "" {
		return
	}
	ev.Entry.Rev = r.Rev
	if r.Rev >= m.chain.head.rev {
		m.observe(ev.Entry)
	}
}

// leaderGone makes the member look for a last will at once.
func (m *Machine) leaderGone(ev LeaderGone) {
	if h, ok := m.chain.head.held(); ok && h.Owner == ev.ID {
		m.peers.gone, m.peers.goneAt = ev.ID, m.now
		m.chain.lookedAt = 0
	}
}

// unseen notes a rev we were beaten with that the share has not shown yet
// (rule 10: it must, or this is another share or an offline copy).
func (m *Machine) unseen(rev uint64) {
	c := &m.chain
	if rev <= c.shownTop {
		return
	}
	if c.unseenRev == 0 || c.missing && m.now-c.unseenAt > lease.TTLMax {
		c.unseenRev, c.unseenFrom = rev, m.now
	}
	c.unseenAt = m.now
}

// beatenElsewhere notes a beat of a chain that our share does not hold.
func (m *Machine) beatenElsewhere(r lease.Record) {
	if !m.peers.elsewhere(r.Share) {
		m.peers.otherShare, m.peers.otherFrom, m.peers.otherBy = r.Share, m.now, r.Station
	}
	m.peers.otherAt = m.now
}

// hurrying reports whether the head's holder seems gone, so that the next
// record is looked for every BEAT/2 (section 5).
func (m *Machine) hurrying() bool {
	h, ok := m.chain.head.held()
	p := &m.peers
	// Whoever is beaten without being on the roster may be named in the next
	// record, which a leader that died did not beat any more.
	beaten := p.heard && p.beatAt >= m.chain.head.seen
	if !ok || m.tenure != nil || !h.OnRoster(m.cfg.Self) && !beaten {
		return false
	}
	last := m.chain.head.seen
	if p.heard {
		last = max(last, p.beatAt)
	}
	if m.now-last > 2*prime(h.Fence)+2*time.Second {
		return false // POLL is enough by now
	}
	late := last + m.cfg.Beat*3/2
	if p.gone == h.Owner || m.now >= late {
		return true
	}
	m.wakeAt(late)
	return false
}
