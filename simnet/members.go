package simnet

import (
	"sort"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
)

// Gossip is simulated by what it does, not how: a member that cannot be
// reached, directly or through another, is called dead 1.2 to 2.1 s later, and
// alive again 0.3 to 1 s after it can be. What members say about themselves
// arrives a little later too.

// peer is one row of a daemon's member table.
type peer struct {
	of    *daemon
	alive bool
	want  bool // what it will be once the pending change has happened
	seq   int  // of the pending change
	meta  arbiter.Member
}

// reachable reports whether gossip of a gets through to b and back.
func (w *World) reachable(a, b *daemon) bool {
	if !a.awake() || !b.awake() || !w.hears(a.keys, b.keys) {
		return false
	}
	if w.net.bothWays(a.host.idx, b.host.idx) {
		return true
	}
	for _, h := range w.hosts {
		k := h.daemon
		if k != nil && k != a && k != b && w.hears(k.keys, a.keys) && k.awake() && w.net.bothWays(a.host.idx, h.idx) && w.net.bothWays(h.idx, b.host.idx) {
			return true
		}
	}
	return false
}

// reachabilityChanged looks at every pair again after a cut, a mend, a crash, a
// start, a freeze or a thaw.
func (w *World) reachabilityChanged() {
	for _, h := range w.hosts {
		if h.daemon == nil {
			continue
		}
		for _, x := range w.hosts {
			if x.daemon != nil && x != h {
				h.daemon.meet(x.daemon)
			}
		}
		for _, p := range h.daemon.peers {
			w.reconsider(h.daemon, p)
		}
	}
}

// meet adds a row for a daemon not known yet; it stays invisible until it has
// been alive.
func (d *daemon) meet(other *daemon) {
	for _, p := range d.peers {
		if p.of == other {
			return
		}
	}
	d.peers = append(d.peers, &peer{of: other})
	sort.Slice(d.peers, func(i, j int) bool { return d.peers[i].of.id.String() < d.peers[j].of.id.String() })
}

func (w *World) reconsider(d *daemon, p *peer) {
	want := w.reachable(d, p.of)
	if !d.awake() || want == p.want {
		return
	}
	p.want = want
	p.seq++
	seq := p.seq
	delay := w.dice.between(w.opt.Net.DetectMin, w.opt.Net.DetectM)
	if want {
		delay = w.dice.between(300*time.Millisecond, time.Second)
	} else if p.of.left {
		delay = w.dice.between(50*time.Millisecond, 300*time.Millisecond)
	}
	w.after(delay, func() {
		if d.dead || p.seq != seq || p.alive == want {
			return
		}
		p.alive = want
		if want {
			p.meta = p.of.meta
		}
		w.tellMembers(d)
	})
}

// tellMembers hands a daemon its whole member table. Rows of runs that ended
// stay for a while, as dead, as they do in gossip.
func (w *World) tellMembers(d *daemon) {
	var rows []arbiter.Member
	kept := d.peers[:0]
	for _, p := range d.peers {
		if p.of.dead && !p.alive && w.now > p.of.diedAt+30*time.Second {
			continue
		}
		kept = append(kept, p)
		if p.meta.ID.Node == "" {
			continue
		}
		m := p.meta
		m.Alive = p.alive
		rows = append(rows, m)
	}
	d.peers = kept
	w.chooseToken(d)
	w.deliver(d, arbiter.MembersChanged{Members: rows})
}

// describe is what a daemon says of itself in its meta.
func (d *daemon) describe() arbiter.Member {
	s := d.machine.Status()
	return arbiter.Member{
		ID: d.id, Station: d.host.name, Addr: d.host.ip(), Alive: true, Eligible: s.Eligible,
		Priority: d.prio, Preempt: d.host.w.opt.preempts(d.host.idx), Share: s.Share, Rev: s.Rev, Epoch: s.Epoch,
		Leads: s.Role == arbiter.Leader,
	}
}

// shareMeta spreads a daemon's meta about three times a second if it has
// changed, and remembers on its disk the newest readable
// record it has seen.
func (w *World) shareMeta(d *daemon) {
	if d.dead {
		return
	}
	w.after(w.dice.between(200*time.Millisecond, 400*time.Millisecond), func() { w.shareMeta(d) })
	if !d.awake() {
		return
	}
	meta := d.describe()
	if meta == d.meta {
		return
	}
	d.meta = meta
	d.host.remember(d.machine.Status().KnownRev, meta.Epoch)
	for _, h := range w.hosts {
		x := h.daemon
		if x == nil || x == d {
			continue
		}
		for _, p := range x.peers {
			if p.of == d && p.alive {
				w.after(w.dice.between(20*time.Millisecond, 300*time.Millisecond), func() { w.learnMeta(x, p, meta) })
			}
		}
	}
}

func (w *World) learnMeta(d *daemon, p *peer, meta arbiter.Member) {
	if d.dead || !p.alive || !w.reachable(d, p.of) || meta.Rev < p.meta.Rev && meta.Share == p.meta.Share {
		return
	}
	p.meta = meta
	w.tellMembers(d)
}
