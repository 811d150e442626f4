package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// The lanes of a daemon: at most one operation of each is under way.
const (
	readLane = iota
	createLane
	publishLane
	housekeepLane
	lanes
)

// act begins one action of a machine.
func (w *World) act(d *daemon, a arbiter.Action) {
	switch a := a.(type) {
	case arbiter.List, arbiter.Read, arbiter.Create, arbiter.Found, arbiter.Publish, arbiter.Housekeep:
		w.actShare(d, a)
	case arbiter.SendBeat:
		w.sendBeat(d, a)
	case arbiter.SendVouch:
		w.checker.vouched(d, a)
		w.send(d, a.To, arbiter.VouchReceived{From: d.id, Run: a.To.Run, Num: a.Num})
	case arbiter.SendHead:
		ev := arbiter.HeadReceived{From: d.id, Entry: w.vault.openAny(a.Body)}
		if a.Reliable {
			w.sendReliably(d, a.To, ev, 5)
			return
		}
		w.send(d, a.To, ev)
	case arbiter.Watch:
		w.watch(d, a.ID)
	case arbiter.Report:
		w.story("%s says: %v %v", d.name, a.Reason, a.Because)
	case arbiter.Finished:
		w.finished(d)
	default:
		w.actGuard(d, a)
	}
}

func (w *World) sendBeat(d *daemon, a arbiter.SendBeat) {
	e := w.vault.openAny(a.Body)
	if e.Kind != lease.Valid || e.Record.Owner != d.id {
		w.fail("action", "%s beats with a record that is not its own: %s", d.name, showEntry(w, e))
		return
	}
	w.checker.beat(d, a.Num)
	for _, to := range a.To {
		w.send(d, to, arbiter.BeatReceived{From: d.id, Num: a.Num, Entry: e})
	}
}

// actShare begins an operation on the share in its lane.
func (w *World) actShare(d *daemon, a arbiter.Action) {
	c := &call{host: d.host, daemon: d, act: a, began: w.now}
	var op arbiter.OpID
	switch a := a.(type) {
	case arbiter.List:
		op, c.lane = a.Op, readLane
	case arbiter.Read:
		op, c.lane = a.Op, readLane
	case arbiter.Create:
		op, c.lane = a.Op, createLane
		c.attempt = w.checker.createBegun(d, a)
	case arbiter.Found:
		op, c.lane = a.Op, createLane
	case arbiter.Publish:
		op, c.lane = a.Op, publishLane
	case arbiter.Housekeep:
		op, c.lane = a.Op, housekeepLane
	}
	if d.lanes[c.lane] != 0 {
		w.fail("lane", "%s begins %s while operation %d of that lane is under way", d.name, w.showAction(a), d.lanes[c.lane])
		return
	}
	if op <= d.lastOp {
		w.fail("action", "%s begins operation %d after %d", d.name, op, d.lastOp)
		return
	}
	d.lanes[c.lane], d.lastOp, c.op = op, op, op
	if c.lane == createLane && w.dice.chance(w.opt.Share.FreezeCall) {
		w.freezeMid(d)
	}
	w.after(w.dice.between(0, 200*time.Microsecond), func() { w.leave(c) })
}

// answer frees the lane and hands the result to the machine.
func (w *World) answer(c *call, r result) {
	switch {
	case c.answered || !c.alive():
	case c.guard != nil:
		c.answered = true
		w.toGuard(c.guard, 0, func() { c.done(r) })
	default:
		c.answered = true
		if c.attempt != nil && r.outcome == arbiter.NoBody {
			c.attempt.refused = true
		}
		w.deliver(c.daemon, c.event(r))
	}
}

// event turns a result into what the machine is told.
func (c *call) event(r result) arbiter.Event {
	switch c.act.(type) {
	case arbiter.List:
		return arbiter.Listed{Op: c.op, Outcome: r.outcome, Share: r.share, Revs: r.revs}
	case arbiter.Read:
		return arbiter.ReadDone{Op: c.op, Outcome: r.outcome, Entry: r.entry}
	case arbiter.Create:
		return arbiter.Created{Op: c.op, Outcome: r.outcome}
	case arbiter.Found:
		return arbiter.Founded{Op: c.op, Outcome: r.outcome}
	case arbiter.Publish:
		return arbiter.Published{Op: c.op, Outcome: r.outcome}
	}
	return arbiter.Housekept{Op: c.op, Outcome: r.outcome}
}

// freesLane returns the lane whose operation an event ends.
func freesLane(ev arbiter.Event) (lane int, op arbiter.OpID, ok bool) {
	switch e := ev.(type) {
	case arbiter.Listed:
		return readLane, e.Op, true
	case arbiter.ReadDone:
		return readLane, e.Op, true
	case arbiter.Created:
		return createLane, e.Op, true
	case arbiter.Founded:
		return createLane, e.Op, true
	case arbiter.Published:
		return publishLane, e.Op, true
	case arbiter.Housekept:
		return housekeepLane, e.Op, true
	}
	return 0, 0, false
}
