package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
)

// end says why a tree died.
type end uint8

const (
	stopped end = iota
	deadline
	exitedByItself
	neverReady
	orphaned
)

// String returns the end in the words of the trace.
func (e end) String() string {
	return [...]string{"stopped", "deadline", "exited", "never ready", "daemon gone"}[e]
}

// tell is what the daemon is told.
func (e end) tell() arbiter.DownCause {
	return [...]arbiter.DownCause{arbiter.DownStopped, arbiter.DownDeadline, arbiter.DownExited, arbiter.DownUnready, arbiter.DownGuard}[e]
}

// relayStarts is the instant from which a relay tree exists.
func (w *World) relayStarts(g *guard) {
	r := &relay{guard: g, owner: g.of.id, epoch: g.epoch, since: w.now}
	g.relay = r
	w.relays = append(w.relays, r)
	w.stats.Relays++
	w.story("RELAY of %s runs, epoch %d", g.of.name, g.epoch)
	w.checker.relayStarted(r)
	p := w.opt.Proc
	if w.opt.unfit(g.host.idx) {
		w.toGuard(g, p.StartTimeout, func() { w.unready(r) })
		return
	}
	if w.dice.chance(p.NeverReady) {
		w.toGuard(g, p.StartTimeout, func() { w.unready(r) })
		w.untilHealed(p.StartTimeout, func() { w.relayReady(r) })
		return
	}
	w.toGuard(g, w.dice.spread(time.Millisecond, p.StartMax), func() { w.relayReady(r) })
	if w.dice.chance(p.Crash) {
		w.toGuard(g, w.dice.spread(time.Millisecond, 20*time.Second), func() { w.crashes(g) })
	}
}

// crashes is a relay that ends by itself, unless the world has healed.
func (w *World) crashes(g *guard) {
	if !w.healed {
		w.relayEnds(g, exitedByItself)
	}
}

// unready is a relay that has not become ready within RELAY_START_TIMEOUT.
func (w *World) unready(r *relay) {
	if !r.ready {
		w.kill(r.guard, neverReady, w.killLatency(r.guard))
	}
}

func (w *World) relayReady(r *relay) {
	g := r.guard
	if g.relay != r || g.dying || r.ready || w.now >= r.since+w.opt.Proc.StartTimeout {
		return
	}
	r.ready = true
	w.story("RELAY of %s is ready", g.of.name)
	w.toDaemon(g, 0, arbiter.RelayReady{Gen: g.gen, PID: int(g.gen)})
}

// relayEnds is a relay that dies by itself under a living guard.
func (w *World) relayEnds(g *guard, cause end) {
	if g.dead || g.dying || g.relay == nil || g.host.asleep() || g.frozen() {
		return
	}
	g.dying = true
	w.guardEnds(g, cause)
}

// relayGone is the instant from which a tree exists no more.
func (w *World) relayGone(r *relay, why string) {
	kept := w.relays[:0]
	for _, x := range w.relays {
		if x != r {
			kept = append(kept, x)
		}
	}
	w.relays = kept
	r.guard.relay = nil
	w.story("RELAY of %s ends: %s", r.guard.of.name, why)
	w.checker.relayEnded(r)
}

// relayWakes is called when a sleeping host wakes, before anything else on it:
// a guard past its deadline kills first.
func (w *World) relayWakes(h *host) {
	w.eachGuard(h, func(g *guard) {
		if g.relay == nil {
			return
		}
		g.relay.wokeAt, g.relay.suspended = w.now, false
		// An earlier deadline may have been on its way to the guard.
		g.relay.wokeLate = g.relay.wokeLate || h.local() > min(g.until, g.told)
		w.checker.relayWoke(g.relay)
		w.deadlinePassed(g)
	})
}

// running reports whether a relay's processes execute right now.
func (r *relay) running() bool { return r.guard.relay == r && !r.guard.host.asleep() }

// late is how long a relay has run since it woke past its deadline.
func (r *relay) late(now time.Duration) time.Duration {
	if r.suspended {
		return r.ranLate
	}
	return r.ranLate + now - r.wokeAt
}

// fallAsleep stops counting until the host wakes again.
func (r *relay) fallAsleep(now time.Duration) {
	if r.wokeLate {
		r.ranLate = r.late(now)
	}
	r.suspended = true
}
