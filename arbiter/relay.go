package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
)

// relay is the tree under this daemon. There is at most one generation at a
// time, and a new one starts only when the last is known dead.
type relay struct {
	clear    bool // no tree of an earlier run of this node is left
	phase    Phase
	gen      uint64
	seq      uint64        // newest deadline sent to a guard
	acked    uint64        // newest deadline a guard acknowledged
	until    time.Duration // value sent as seq
	pid      int
	since    time.Duration // last change of phase
	upAt     time.Duration // when it became ready; zero before
	downAt   time.Duration // when the last tree was known dead
	restarts int
	lastBeat uint64 // beat numbers only grow within a run
}

func (m *Machine) setPhase(p Phase) {
	m.relay.phase, m.relay.since = p, m.now
}

// startRelay starts the relay of a tenure, or starts it again (rule 5).
func (m *Machine) startRelay() {
	t, r := m.tenure, &m.relay
	lost := t.acked.rec.Rev <= t.lostTip
	if t.ending != nil || r.phase != RelayNone || !r.clear || lost {
		return
	}
	if m.now < m.crashes.next {
		m.wakeAt(m.crashes.next)
		return
	}
	until, _ := m.deadline()
	if until-m.now < m.runway() {
		return // keep the record, send beats; vouches may bring it into the future
	}
	m.crashes.tries(m.now, !t.started)
	t.started = true
	r.gen++
	r.seq++
	r.until, r.pid, r.upAt = until, 0, 0
	m.setPhase(RelayStarting)
	m.emit(StartRelay{Gen: r.gen, Seq: r.seq, Epoch: t.epoch, Until: until})
	m.setWill()
}

// runway is how much of a deadline must be left for a start to be worth it: one
// beat, within which the next vouches arrive.
func (m *Machine) runway() time.Duration { return m.cfg.Beat }

// moveDeadline tells the guard where rule 2's deadline is now.
func (m *Machine) moveDeadline() {
	r := &m.relay
	if m.tenure == nil || r.phase == RelayNone {
		return
	}
	until, _ := m.deadline()
	if until == r.until {
		return
	}
	r.seq++
	r.until = until
	m.emit(SetUntil{Gen: r.gen, Seq: r.seq, Until: until})
}

// killRelay kills the tree now.
func (m *Machine) killRelay() {
	r := &m.relay
	if r.phase == RelayNone {
		return
	}
	m.setPhase(RelayStopping)
	m.emit(StopRelay{Gen: r.gen})
}

func (m *Machine) guardAcked(ev GuardAcked) {
	if ev.Gen == m.relay.gen {
		m.relay.acked = max(m.relay.acked, ev.Seq)
	}
}

func (m *Machine) relayReady(ev RelayReady) {
	r := &m.relay
	if ev.Gen != r.gen || r.phase != RelayStarting {
		return
	}
	r.pid, r.upAt = ev.PID, m.now
	m.setPhase(RelayRunning)
	m.crashes.trying = 0
	m.say(false, reason.Reason{Code: reason.RelayReady, PID: ev.PID, Epoch: m.chain.known.epoch})
}

// relayDown takes in that the whole tree is dead.
func (m *Machine) relayDown(ev RelayDown) {
	r := &m.relay
	if ev.Gen != r.gen || r.phase == RelayNone {
		return
	}
	stopping := r.phase == RelayStopping
	up := time.Duration(0)
	if r.phase == RelayRunning {
		up = m.now - r.upAt
	}
	if r.upAt != 0 {
		m.crashes.lived(m.now - r.upAt)
	}
	m.setPhase(RelayNone)
	r.pid, r.downAt = 0, m.now
	t := m.tenure
	if ev.Cause == DownDeadline && up == 0 && !stopping && m.crashes.failed(m.now, 0, "") && m.othersEligible() {
		m.crashes.rest(m.now) // a PC too slow to start a guard must not try for ever
	}
	if t == nil || t.ending != nil {
		return
	}
	switch ev.Cause {
	case DownDeadline: // a guard that has killed never runs again
		m.endTenure(reason.Reason{Code: reason.EndedByItsGuard})
	case DownGuard:
		// Its last will may still be on its way, over every record it was told
		// of: nothing runs until one above all of them is acknowledged (rule 7).
		t.lostOp, t.lostTip = m.lastOp, max(t.begun, t.acked.rec.Rev)
		r.restarts++
		m.say(true, reason.Reason{Code: reason.GuardDied, Detail: ev.Note})
	default:
		if !stopping {
			r.restarts++
			m.relayCrashed(ev, up)
		}
	}
}
