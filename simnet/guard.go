package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// guard is the process that owns a relay tree and kills it at its deadline,
// whatever has become of the daemon.
type guard struct {
	host  *host
	of    *daemon // the run that started it
	gen   uint64
	epoch uint64
	share string        // chain of the tenure
	until time.Duration // deadline it applies: boot time of its host
	will  *lease.Record // newest acknowledged record, for the last will
	tip   uint64
	relay *relay // nil before its start and after its death

	frozenUntil time.Duration // world time; it stands still before it
	stoodStill  bool          // it was frozen at some time
	waiting     []func()      // what it will do then
	told        time.Duration // newest deadline that the daemon has sent
	owes        time.Duration // world time since which an answer is due; 0 = none

	dead    bool // the process has ended
	orphan  bool // EOF: the daemon is gone, or seems to be
	dying   bool // it is killing the tree
	spawned bool
	timer   int           // of the pending look at the clock
	pipe    time.Duration // world time at which the last line to it arrives
	back    time.Duration // and the last line from it
}

// relay is one live relay tree.
type relay struct {
	guard *guard
	owner lease.ID
	epoch uint64
	since time.Duration
	ready bool
	// wokeLate is set when its host woke after its deadline: from then it may
	// run for KILL_MARGIN, the documented exception.
	wokeLate  bool
	wokeAt    time.Duration // world time since which it has been awake
	suspended bool
	ranLate   time.Duration // how long it ran before its host fell asleep again
}

// killMargin is KILL_MARGIN of the daemon's figures, on its host's clock.
func (g *guard) killMargin() time.Duration {
	return min(200*time.Millisecond, g.of.fig.Fence/4)
}

// actGuard carries out the actions that concern the relay process.
func (w *World) actGuard(d *daemon, a arbiter.Action) {
	if a, ok := a.(arbiter.StartRelay); ok {
		w.startGuard(d, a)
		return
	}
	g := d.guardOf(a)
	if g == nil {
		return // it has died meanwhile, and RelayDown is on its way
	}
	pipe := w.dice.spread(10*time.Microsecond, w.opt.Proc.PipeMax)
	switch a := a.(type) {
	case arbiter.SetUntil:
		g.told = a.Until
		if w.opt.Defect == GuardToldLate {
			w.toDaemon(g, 0, arbiter.GuardAcked{Gen: g.gen, Seq: a.Seq})
			pipe += d.fig.Fence
		}
		w.toPipe(g, pipe, func() { w.setUntil(g, a.Until, a.Seq) })
	case arbiter.SetWill:
		r := a.Record
		w.checker.holds(d, r)
		d.host.remember(r.Rev, r.Epoch)
		w.toPipe(g, pipe, func() { g.will, g.tip = &r, a.Tip })
	case arbiter.StopRelay:
		grace := w.dice.between(0, a.Grace)
		w.toPipe(g, pipe, func() { w.toGuard(g, grace, func() { w.kill(g, stopped, w.killLatency(g)) }) })
	}
}

// guardOf finds the guard an action is meant for.
func (d *daemon) guardOf(a arbiter.Action) *guard {
	var gen uint64
	switch a := a.(type) {
	case arbiter.SetUntil:
		gen = a.Gen
	case arbiter.SetWill:
		gen = a.Gen
	case arbiter.StopRelay:
		gen = a.Gen
	}
	for _, g := range d.host.guards {
		if g.of == d && g.gen == gen {
			return g
		}
	}
	return nil
}

// startGuard starts a guard and, unless its deadline has passed by then, the
// relay under it.
func (w *World) startGuard(d *daemon, a arbiter.StartRelay) {
	if a.Gen <= d.lastGen {
		w.fail("action", "%s starts generation %d after %d", d.name, a.Gen, d.lastGen)
		return
	}
	for _, g := range d.host.guards {
		if g.relay != nil || g.of == d && !g.orphan {
			w.fail("action", "%s starts generation %d while a tree of %s/%d may live on this host", d.name, a.Gen, g.of.name, g.gen)
			return
		}
	}
	d.lastGen = a.Gen
	w.checker.tenure(tenureKey{d.id, a.Epoch, d.lastShare}).started = true
	g := &guard{host: d.host, of: d, gen: a.Gen, epoch: a.Epoch, share: d.lastShare, until: a.Until, told: a.Until}
	d.host.guards = append(d.host.guards, g)
	w.toPipe(g, w.dice.spread(500*time.Microsecond, w.opt.Proc.SpawnMax), func() { w.spawn(g, a.Seq) })
}

func (w *World) spawn(g *guard, seq uint64) {
	w.toDaemon(g, 0, arbiter.GuardAcked{Gen: g.gen, Seq: seq})
	g.spawned = true
	if g.dying || g.host.local() >= g.until {
		w.guardEnds(g, deadline)
		return
	}
	w.relayStarts(g)
	w.armGuard(g)
}

// setUntil applies a new deadline and acknowledges it. A guard that has begun
// to kill goes on killing.
func (w *World) setUntil(g *guard, until time.Duration, seq uint64) {
	if g.dying {
		return
	}
	g.until = until
	w.toDaemon(g, w.dice.spread(10*time.Microsecond, w.opt.Proc.PipeMax), arbiter.GuardAcked{Gen: g.gen, Seq: seq})
	if g.relay != nil {
		w.checker.guardTold(g)
		w.armGuard(g)
	}
}

// armGuard schedules the guard's look at its clock.
func (w *World) armGuard(g *guard) {
	if w.opt.Defect == NoGuard {
		return
	}
	g.timer++
	timer := g.timer
	w.queue.push(max(w.now, g.host.clock.world(g.until)), func() {
		if g.timer == timer && !g.host.asleep() && !g.frozen() {
			w.deadlinePassed(g)
		}
	})
}

// deadlinePassed kills the tree: dead at the latest KILL_MARGIN after the
// deadline, or after waking if the host slept through it.
func (w *World) deadlinePassed(g *guard) {
	if g.dead || g.dying || g.frozen() || g.relay == nil || g.host.local() < g.until || w.opt.Defect == NoGuard {
		return
	}
	w.kill(g, deadline, w.killLatency(g))
}

// killLatency draws how long a tree takes to die, in world time: up to exactly
// KILL_MARGIN on the slowest clock.
func (w *World) killLatency(g *guard) time.Duration {
	m := g.killMargin()
	if w.opt.Defect == NoKillMargin {
		m *= 3
	}
	if w.dice.chance(w.opt.Proc.KillExact) {
		return m
	}
	return w.dice.spread(time.Millisecond, m)
}

// kill ends the tree after the given latency, measured on the host's clock.
func (w *World) kill(g *guard, cause end, latency time.Duration) {
	if g.dead || g.dying {
		return
	}
	g.dying = true
	if g.relay == nil {
		if g.spawned {
			w.guardEnds(g, cause)
		}
		return
	}
	at := g.host.clock.world(g.host.local() + latency)
	w.queue.push(at, func() { w.killed(g, cause) })
}

func (w *World) killed(g *guard, cause end) {
	switch {
	case g.dead:
	case g.host.asleep():
		g.host.park(func() { w.killed(g, cause) })
	case g.frozen():
		g.waiting = append(g.waiting, func() { w.killed(g, cause) })
	default:
		w.guardEnds(g, cause)
	}
}

// guardEnds is the end of a tree: its death is reported to the daemon, or,
// if that is gone, the last will is carried out.
func (w *World) guardEnds(g *guard, cause end) {
	if g.relay != nil {
		w.relayGone(g.relay, cause.String())
	}
	if g.orphan {
		w.toDaemon(g, 0, arbiter.RelayDown{Gen: g.gen, Cause: arbiter.DownGuard})
		w.lastWill(g)
		return
	}
	w.toDaemon(g, w.dice.between(0, time.Millisecond), arbiter.RelayDown{Gen: g.gen, Cause: cause.tell()})
	w.bury(g)
}

// bury ends the guard's process.
func (w *World) bury(g *guard) {
	g.dead = true
	kept := g.host.guards[:0]
	for _, x := range g.host.guards {
		if x != g {
			kept = append(kept, x)
		}
	}
	g.host.guards = kept
}

// guardHearsEOF tells a guard that its daemon is gone, be that so or not.
func (w *World) guardHearsEOF(g *guard) {
	if g.orphan {
		return
	}
	w.toGuard(g, 0, func() {
		g.orphan = true
		if !g.dying {
			w.kill(g, orphaned, w.killLatency(g))
		}
	})
}

// crashGuard kills a guard; its relay dies with it, and no will is carried out.
func (w *World) crashGuard(g *guard) {
	if g.host.asleep() || g.dead {
		return
	}
	if g.frozen() {
		g.until = g.told // what the daemon has enforced meanwhile
	}
	if g.relay != nil {
		w.relayGone(g.relay, "guard killed")
	}
	w.toDaemon(g, w.dice.between(0, time.Millisecond), arbiter.RelayDown{Gen: g.gen, Cause: arbiter.DownGuard})
	w.bury(g)
}

// toGuard does something in the guard's process after a delay, or when its host
// wakes, if it still lives.
func (w *World) toGuard(g *guard, delay time.Duration, do func()) {
	w.after(delay, func() {
		switch {
		case g.dead:
		case g.host.asleep():
			g.host.park(func() { w.toGuard(g, 0, do) })
		case g.frozen():
			g.waiting = append(g.waiting, func() { w.toGuard(g, 0, do) })
		default:
			do()
		}
	})
}

// toPipe writes a line to the guard; lines do not overtake each other.
func (w *World) toPipe(g *guard, delay time.Duration, do func()) {
	g.pipe = max(g.pipe, w.now+delay)
	w.toGuard(g, g.pipe-w.now, do)
}

// toDaemon tells the run that started the guard, in order as well.
func (w *World) toDaemon(g *guard, delay time.Duration, ev arbiter.Event) {
	g.back = max(g.back, w.now+delay)
	w.queue.push(g.back, func() { w.deliver(g.of, ev) })
}
