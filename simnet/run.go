package simnet

import (
	"errors"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// prime is x': what the waiting side makes of somebody else's period.
func prime(x time.Duration) time.Duration { return x*102/100 + 20*time.Millisecond }

// Quiet periods of the last phase. Members count TTL_MAX' from when they first
// saw the share's state, and they look each POLL: that much is added as well.
const (
	settle  = 2 * time.Second  // beyond TTL_MAX' + POLL, until there is exactly one relay again
	refound = 2 * time.Second  // more, if a chain must be founded first and then raced for
	steady  = 60 * time.Second // and then nothing may change for so long
)

// Run lets a world live: daemons start, faults strike, everything heals, and
// then exactly one relay must run and stay. It returns the first violation.
func (w *World) Run() error {
	for _, h := range w.hosts {
		w.startFirst(h)
	}
	for _, f := range w.opt.Faults {
		w.queue.push(f.At, func() { w.strike(f) })
	}
	switch w.opt.Mode {
	case Noise:
		w.runNoise()
	case Failover:
		w.runFailover()
	default:
		w.runSafetyThenLiveness()
	}
	var v *Violation
	if errors.As(w.failed, &v) {
		v.Tail = w.trace.tail()
	}
	return w.failed
}

// startFirst starts a host's daemon somewhere in the first seconds.
func (w *World) startFirst(h *host) {
	limit := 5 * time.Second
	if h.idx > 0 {
		limit = max(limit, w.opt.JoinBy)
	}
	w.after(w.dice.spread(time.Millisecond, limit), func() { w.startDaemon(h) })
}

func (w *World) runSafetyThenLiveness() {
	w.run(w.opt.Safety)
	if w.failed != nil {
		return
	}
	w.heal()
	limit := prime(lease.TTLMax) + w.slowestPoll() + settle
	for _, s := range w.shares {
		if s.chain == nil {
			limit += refound
			break
		}
	}
	w.run(w.now + limit)
	w.letMove()
	w.checkOne("after healing")
	w.letPreempt()
	changes := w.checker.changes
	w.run(w.now + steady)
	w.checkReady("at the end")
	if w.failed == nil && w.checker.changes != changes {
		w.fail("liveness", "the relay changed hands, or restarted, at %v, long after healing", w.checker.changed)
	}
}

// letPreempt gives members that take the lease back the time to, each after 30
// stable seconds, and demands that the best of them has it then.
func (w *World) letPreempt() {
	if len(w.opt.Claims) == 0 || w.failed != nil {
		return
	}
	w.run(w.now + 2*35*time.Second + 20*time.Second)
	w.checkOne("after preemption")
	if w.failed != nil {
		return
	}
	lead := w.relays[0].guard.host.idx
	for i, claims := range w.opt.Claims {
		if claims && w.opt.Prio[i] > w.opt.Prio[lead] {
			w.fail("liveness", "%s leads although %s may preempt it", w.hosts[lead].name, w.hosts[i].name)
		}
	}
}

// checkOne demands exactly one relay.
func (w *World) checkOne(when string) {
	if w.failed == nil && w.checker.running() != 1 {
		w.fail("liveness", "%d relays %s", w.checker.running(), when)
	}
}

// checkReady demands exactly one relay, and that it serves.
func (w *World) checkReady(when string) {
	w.checkOne(when)
	if w.failed == nil && !w.relays[0].ready {
		w.fail("liveness", "the relay of %s is not ready %s", w.relays[0].guard.of.name, when)
	}
}

// letMove gives PCs on which no relay becomes ready the time to notice, each
// after a minute without one, and to hand it to another until it works.
func (w *World) letMove() {
	for _, unfit := range w.opt.Unfit {
		if unfit && w.failed == nil {
			w.run(w.now + 60*time.Second + w.opt.Proc.StartTimeout + 5*time.Second)
		}
	}
}

// runNoise demands that mere weather changes nothing once a relay runs.
func (w *World) runNoise() {
	w.run(30 * time.Second)
	w.checkOne("30 s after the start")
	changes := w.checker.changes
	w.run(w.opt.Safety)
	w.checkReady("at the end")
	if w.failed == nil && w.checker.changes != changes {
		w.fail("noise", "a relay started or ended at %v, under nothing but weather", w.checker.changed)
	}
}

// runFailover demands that a dead leader's host is replaced within FENCE' +
// BEAT + 1 s by a healthy roster member.
func (w *World) runFailover() {
	strike := w.opt.Faults[0].At
	w.run(strike - 1)
	w.checkOne("before the fault")
	f := w.opt.Figures
	limit := prime(f.Fence) + f.Beat + time.Second
	w.run(strike + limit)
	w.checkOne("within FENCE' + BEAT + 1 s of the leader's death")
	if w.failed == nil {
		w.stats.MaxGap = w.checker.changed - strike
	}
	w.run(strike + 2*time.Minute)
	w.checkReady("at the end")
}

// slowestPoll is the longest POLL of any member.
func (w *World) slowestPoll() time.Duration {
	p := w.opt.Figures.Poll
	for _, h := range w.hosts {
		if h.daemon != nil {
			p = max(p, h.daemon.fig.Poll)
		}
	}
	return p
}
