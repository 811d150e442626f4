package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// lastWill is what a guard does once its daemon is gone and its tree is dead:
// it releases the lease at exactly the revision after the last acknowledged
// one, going on only over records that are verifiably of the same tenure.
func (w *World) lastWill(g *guard) {
	if g.will == nil {
		w.bury(g)
		return
	}
	rev := g.will.Rev + 1
	if w.opt.Defect == WillAtHead && g.host.share.chain != nil {
		for r := range g.host.share.chain.live {
			rev = max(rev, r+1)
		}
	}
	w.bequeath(g, rev)
}

// bequeath tries to create the release at rev.
func (w *World) bequeath(g *guard, rev uint64) {
	r := *g.will
	r.Rev, r.State, r.Reason, r.Successor, r.LeaseUntil = rev, lease.Released, lease.WillReason, lease.ID{}, ""
	body, err := sealer{g.of}.Seal(r)
	if err != nil {
		w.fail("will", "cannot seal: %v", err)
		return
	}
	w.guardCalls(g, arbiter.Create{Share: r.Share, Rev: rev, Body: body}, func(res result) {
		switch res.outcome {
		case arbiter.Exists:
			w.lookAtWill(g, rev)
		case arbiter.NoBody:
			w.bequeath(g, rev+1)
		default:
			w.bury(g)
		}
	})
}

// lookAtWill looks at the record in the way: lease.WillNext decides whether the
// will may go over it.
func (w *World) lookAtWill(g *guard, rev uint64) {
	w.guardCalls(g, arbiter.Read{Share: g.will.Share, Rev: rev}, func(res result) {
		tip := g.tip
		if w.opt.Defect == WillPastTip {
			tip = res.entry.Rev
		}
		if res.outcome == arbiter.OK && lease.WillNext(*g.will, tip, res.entry) {
			w.note("the last will of %s goes over record %d", g.of.name, rev)
			w.bequeath(g, rev+1)
			return
		}
		w.note("the last will of %s stops at record %d", g.of.name, rev)
		w.bury(g)
	})
}

// guardCalls sends a guard's own call to the share.
func (w *World) guardCalls(g *guard, a arbiter.Action, done func(result)) {
	c := &call{host: g.host, guard: g, act: a, began: w.now, done: done}
	w.after(g.host.told.willLate+w.dice.between(0, time.Millisecond), func() { w.leave(c) })
}
