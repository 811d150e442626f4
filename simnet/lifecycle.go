package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// freezeHost puts a PC to sleep: daemon, guard and relay stand still, packets
// and answers wait, boot time goes on.
func (w *World) freezeHost(h *host, d time.Duration) {
	if !h.up {
		return
	}
	if !h.asleep() {
		w.eachGuard(h, func(g *guard) {
			if g.relay != nil {
				g.relay.fallAsleep(w.now)
			}
		})
	}
	h.asleepUntil = max(h.asleepUntil, w.now+d)
	w.checker.measureFolders()
	w.story("%s sleeps for %v", h.name, d)
	w.reachabilityChanged()
	w.after(d, func() { w.wake(h) })
}

// freezeDaemon stops only the daemon; its guard lives on.
func (w *World) freezeDaemon(h *host, d time.Duration) {
	if h.daemon == nil {
		return
	}
	w.eachGuard(h, w.thawGuard) // both at once is a frozen host
	h.daemon.frozenUntil = max(h.daemon.frozenUntil, w.now+d)
	w.story("%s freezes for %v", h.daemon.name, d)
	w.reachabilityChanged()
	w.after(d, func() { w.wake(h) })
}

// freezeMid freezes a daemon or its whole host in the middle of what it does.
func (w *World) freezeMid(d *daemon) {
	long := w.dice.spread(time.Millisecond, w.opt.Proc.FreezeMax)
	if w.opt.Mode != Noise && w.dice.chance(0.5) {
		w.freezeHost(d.host, long)
		return
	}
	w.freezeDaemon(d.host, long)
}

// thaw ends every freeze of a host at once.
func (w *World) thaw(h *host) {
	w.eachGuard(h, w.thawGuard)
	h.asleepUntil = min(h.asleepUntil, w.now)
	if h.daemon != nil {
		h.daemon.frozenUntil = min(h.daemon.frozenUntil, w.now)
	}
	w.wake(h)
}

// wake lets a host's processes go on after a freeze, unless another one still
// holds them: guards first or the daemon first, as chance will have it.
func (w *World) wake(h *host) {
	if !h.up || h.asleep() {
		return
	}
	w.relayWakes(h)
	parked := h.parked
	h.parked = nil
	for _, do := range parked {
		do()
	}
	if h.daemon != nil && h.daemon.awake() {
		w.catchUp(h.daemon)
	}
	w.reachabilityChanged()
}

// park keeps something for when the host, or its daemon, wakes.
func (h *host) park(do func()) { h.parked = append(h.parked, do) }

// catchUp steps a daemon through what arrived while it was frozen. Packets and
// answers of the share come in any order; what came over one pipe, or in one
// queue, keeps its own.
func (w *World) catchUp(d *daemon) {
	box := d.inbox
	d.inbox, d.packets = nil, 0
	var streams [lastStream + 1][]arbiter.Event
	for _, ev := range box {
		streams[streamOf(ev)] = append(streams[streamOf(ev)], ev)
	}
	w.dice.Shuffle(len(box), func(i, j int) { box[i], box[j] = box[j], box[i] })
	for _, ev := range box {
		if s := streamOf(ev); s != unordered {
			ev, streams[s] = streams[s][0], streams[s][1:]
		}
		w.deliver(d, ev)
	}
}

// Events of one stream cannot overtake each other.
const (
	unordered = iota
	fromGuard
	fromGossip
	fromOutside
	lastStream = fromOutside
)

func streamOf(ev arbiter.Event) int {
	switch ev.(type) {
	case arbiter.GuardAcked, arbiter.RelayReady, arbiter.RelayDown:
		return fromGuard
	case arbiter.MembersChanged:
		return fromGossip
	case arbiter.Eligibility, arbiter.Handoff, arbiter.TreeClear:
		return fromOutside
	}
	return unordered
}

// crashDaemon ends a daemon's process without warning. Its guards hear EOF and
// its peers' connections end.
func (w *World) crashDaemon(h *host, how string) {
	d := h.daemon
	if d == nil || !h.up || h.asleep() {
		return
	}
	w.story("%s %s", d.name, how)
	w.eachGuard(h, w.thawGuard)
	w.daemonGone(d)
	w.hangUp(d)
	w.eachGuard(h, w.guardHearsEOF)
}

func (w *World) daemonGone(d *daemon) {
	d.dead, d.diedAt, d.inbox = true, w.now, nil
	d.host.daemon = nil
	w.reachabilityChanged()
}

// crashHost cuts a PC's power: everything on it is gone at once and nobody is
// told.
func (w *World) crashHost(h *host) {
	if !h.up {
		return
	}
	w.story("%s loses power", h.name)
	if d := h.daemon; d != nil {
		w.daemonGone(d)
	}
	h.up, h.parked, h.asleepUntil = false, nil, 0
	for _, g := range h.guards {
		g.dead = true
		if g.relay != nil {
			w.relayGone(g.relay, "power lost")
		}
	}
	h.guards = nil
	w.reachabilityChanged()
}

// eachGuard calls do for the guards of a host; do may remove them.
func (w *World) eachGuard(h *host, do func(*guard)) {
	for _, g := range append([]*guard(nil), h.guards...) {
		if !g.dead {
			do(g)
		}
	}
}

// askHandoff asks a daemon to hand over, finally if it is to end.
func (w *World) askHandoff(h *host, final bool) {
	d := h.daemon
	if d == nil {
		return
	}
	to := lease.ID{}
	if x := w.hosts[w.dice.IntN(len(w.hosts))].daemon; x != nil && x != d && w.dice.chance(0.5) {
		to = x.id
	}
	reason := "handoff"
	if final {
		reason = "stop"
		w.after(10*time.Second, func() { w.giveUpStopping(d) })
	}
	w.deliver(d, arbiter.Handoff{To: to, Reason: reason, Final: final})
}

// giveUpStopping kills a daemon that was asked to stop and has not.
func (w *World) giveUpStopping(d *daemon) {
	if !d.dead {
		w.crashDaemon(d.host, "is killed: it did not stop in 10 s")
		w.startLater(d.host, time.Second)
		if w.healed {
			w.startDaemon(d.host)
		}
	}
}

// rollOver stops the daemon of a host gracefully, starts it again once it has
// ended, and goes on with the next host.
func (w *World) rollOver(i int) {
	if i == len(w.hosts) || w.healed {
		return
	}
	h := w.hosts[i]
	if h.daemon == nil || !h.daemon.awake() {
		w.rollOver(i + 1)
		return
	}
	w.askHandoff(h, true)
	w.restartEnded(h, h.daemon, i)
}

func (w *World) restartEnded(h *host, d *daemon, i int) {
	w.after(100*time.Millisecond, func() {
		switch {
		case !d.dead:
			w.restartEnded(h, d, i)
		case !w.healed:
			w.startDaemon(h)
			w.after(w.dice.between(0, 3*time.Second), func() { w.rollOver(i + 1) })
		}
	})
}

// finished ends a daemon that has handed over and leaves gossip politely.
func (w *World) finished(d *daemon) {
	w.after(5*time.Millisecond, func() { w.leaves(d) })
}

// leaves is the end of a daemon's own accord; one that stands still does it
// once it wakes.
func (w *World) leaves(d *daemon) {
	switch {
	case d.dead:
		return
	case !d.awake():
		d.host.park(func() { w.leaves(d) })
		return
	}
	d.left = true
	w.crashDaemon(d.host, "ends")
	if w.healed {
		w.after(time.Second, func() { w.startDaemon(d.host) })
	}
}

// drain makes a member ineligible for a while.
func (w *World) drain(h *host, long time.Duration) {
	d := h.daemon
	if d == nil {
		return
	}
	w.deliver(d, arbiter.Eligibility{Reasons: reason.Of(reason.Drained)})
	w.untilHealed(long, func() { w.deliver(d, arbiter.Eligibility{}) })
}
