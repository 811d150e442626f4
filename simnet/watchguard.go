package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
)

// A guard that stands still enforces nothing, so its daemon does: it ends the
// tree half a KILL_MARGIN after the newest deadline it has sent, and a guard
// that owes an answer for two seconds, with everything under it. A daemon and a
// guard that both stand still are a frozen host to the relay under them, which
// this simulation reserves for hosts.

// silence is how long a guard may owe an answer.
const silence = 2 * time.Second

func (g *guard) frozen() bool { return g.host.w.now < g.frozenUntil }

// freezeGuard stops a guard whose daemon runs.
func (w *World) freezeGuard(g *guard, d time.Duration) {
	if !g.spawned || g.dying || g.orphan || g.of.dead || w.now < g.of.frozenUntil {
		return
	}
	g.frozenUntil = max(g.frozenUntil, w.now+d)
	g.stoodStill = true
	g.owes = 0
	w.story("the guard of %s freezes for %v", g.of.name, d)
	w.untilHealed(d, func() { w.thawGuard(g) })
	w.watchGuard(g)
}

// thawGuard lets a guard go on: first it looks at the clock.
func (w *World) thawGuard(g *guard) {
	if g.frozenUntil == 0 || g.dead {
		return
	}
	g.frozenUntil = 0
	if passed := g.host.local() >= min(g.until, g.told); passed && g.relay != nil {
		// The daemon watches on, so the tree is dead by the same instant: what
		// binds is the newest deadline that the daemon has sent.
		g.until = g.told
		left := g.told + g.killMargin() - g.host.local()
		if w.opt.Defect == ThawedLate {
			left = g.killMargin()
		}
		w.kill(g, deadline, max(min(w.killLatency(g), left), time.Millisecond))
	}
	waiting := g.waiting
	g.waiting = nil
	for _, do := range waiting {
		do()
	}
	if !g.dead && g.relay != nil && !g.dying {
		w.armGuard(g)
	}
}

// watchGuard is the daemon's look at a frozen guard, a few times per KILL_MARGIN.
func (w *World) watchGuard(g *guard) {
	if g.dead || !g.frozen() || w.opt.Defect == NoWatch {
		return
	}
	w.after(g.killMargin()/8, func() { w.watchGuard(g) })
	if !g.of.awake() {
		return
	}
	late := g.host.local() - g.told - g.killMargin()/2
	switch {
	case len(g.waiting) == 0:
		g.owes = 0
	case g.owes == 0:
		g.owes = w.now
	}
	if late >= 0 {
		w.endFrozen(g, arbiter.DownDeadline)
	} else if g.owes != 0 && w.now >= g.owes+silence {
		w.endFrozen(g, arbiter.DownGuard)
	}
}

// endFrozen kills a frozen guard and its tree, and tells the daemon once nothing
// of it is left.
func (w *World) endFrozen(g *guard, cause arbiter.DownCause) {
	g.dying, g.until, g.frozenUntil = true, g.told, 0
	g.waiting = nil
	w.after(w.dice.spread(time.Millisecond, g.killMargin()/4), func() { w.buryFrozen(g, cause) })
}

func (w *World) buryFrozen(g *guard, cause arbiter.DownCause) {
	switch {
	case g.dead:
		return
	case g.host.asleep():
		g.host.park(func() { w.buryFrozen(g, cause) })
		return
	}
	if g.relay != nil {
		w.relayGone(g.relay, "ended by the daemon: its guard stands still")
	}
	w.toDaemon(g, w.dice.between(0, time.Millisecond), arbiter.RelayDown{Gen: g.gen, Cause: cause})
	w.bury(g)
}
