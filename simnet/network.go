package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// network is the LAN: a packet from a to b passes unless something cuts that
// direction. Cuts are counted, so overlapping faults end one by one.
type network struct{ cuts [][]int }

func newNetwork(n int) network {
	cuts := make([][]int, n)
	for i := range cuts {
		cuts[i] = make([]int, n)
	}
	return network{cuts}
}

// cut adds delta to every direction that which selects.
func (n network) cut(which func(from, to int) bool, delta int) {
	for a := range n.cuts {
		for b := range n.cuts[a] {
			if a != b && which(a, b) {
				n.cuts[a][b] += delta
			}
		}
	}
}

func (n network) passes(from, to int) bool { return n.cuts[from][to] == 0 }

// bothWays reports whether two hosts can hold a conversation.
func (n network) bothWays(a, b int) bool { return n.passes(a, b) && n.passes(b, a) }

// latency draws how long a packet takes.
func (w *World) latency() time.Duration {
	d := w.dice.spread(w.opt.Net.Min, w.opt.Net.Max)
	if w.dice.chance(w.opt.Net.Spike) {
		d += w.dice.between(0, w.opt.Net.SpikeMax)
	}
	return d
}

// send sends a datagram from a daemon to whoever listens at the address of
// another. It may be lost, doubled, overtaken, or turn up again much later.
func (w *World) send(from *daemon, to lease.ID, ev arbiter.Event) {
	target, ok := w.names[to]
	if !ok {
		w.fail("action", "%s sends %T to %v, which nobody ever was", from.name, ev, to)
		return
	}
	if w.dice.chance(w.opt.Net.Loss) {
		return
	}
	w.fly(from, target.host, ev, w.latency())
	if w.dice.chance(w.opt.Net.Dup) {
		w.fly(from, target.host, ev, w.latency())
	}
	if w.dice.chance(w.opt.Net.Replay) {
		w.fly(from, target.host, ev, w.dice.spread(10*time.Millisecond, 60*time.Second))
	}
}

// fly delivers a packet to the daemon that is at the address when it arrives,
// which need not be the one it was meant for. Who has another token cannot
// decrypt it.
func (w *World) fly(from *daemon, to *host, ev arbiter.Event, delay time.Duration) {
	if !w.net.passes(from.host.idx, to.idx) {
		return
	}
	w.after(delay, func() {
		if to.up && to.daemon != nil && w.hears(to.daemon.keys, from.keys) && w.net.passes(from.host.idx, to.idx) {
			w.deliver(to.daemon, w.verified(ev, to.daemon))
		}
	})
}

// sendReliably is fly over a connection: it is repeated until it arrives, for
// as long as both ends live.
func (w *World) sendReliably(from *daemon, to lease.ID, ev arbiter.Event, tries int) {
	target, ok := w.names[to]
	if !ok {
		w.fail("action", "%s sends %T to %v, which nobody ever was", from.name, ev, to)
		return
	}
	w.after(2*w.latency(), func() {
		switch {
		case from.dead || target.dead || tries == 0 || !w.hears(from.keys, target.keys):
		case w.net.bothWays(from.host.idx, target.host.idx):
			w.deliver(target, w.verified(ev, target))
		default:
			w.after(time.Second, func() { w.sendReliably(from, to, ev, tries-1) })
		}
	})
}

// watch is the connection a roster member keeps to the leader's daemon.
func (w *World) watch(d *daemon, id lease.ID) {
	if d.watching == id {
		return
	}
	d.watching, d.connected = id, false
	d.watchSeq++
	if !id.IsZero() {
		w.connect(d, d.watchSeq)
	}
}

func (w *World) connect(d *daemon, seq int) {
	w.after(3*w.latency(), func() {
		if d.dead || d.watchSeq != seq {
			return
		}
		target, ok := w.names[d.watching]
		if ok && !target.dead && target.host.up && w.net.bothWays(d.host.idx, target.host.idx) {
			d.connected = true
			return
		}
		w.after(500*time.Millisecond, func() { w.connect(d, seq) })
	})
}

// hangUp tells everybody connected to a daemon that its process has ended. The
// kernel of its host does that, so the host must be up; the death of a whole
// host is silent.
func (w *World) hangUp(gone *daemon) {
	for _, h := range w.hosts {
		d := h.daemon
		if d == nil || !d.connected || d.watching != gone.id {
			continue
		}
		d.connected = false
		seq := d.watchSeq
		w.after(w.latency(), func() {
			if d.dead || d.watchSeq != seq {
				return
			}
			if w.net.passes(gone.host.idx, d.host.idx) {
				w.deliver(d, arbiter.LeaderGone{ID: gone.id})
			}
			w.connect(d, seq)
		})
	}
}
