package arbiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// checker judges every step of a machine from outside: it sees the events and
// the actions and nothing else (but Status), and fails the test as soon as a
// rule is broken, whatever the test itself is about.
type checker struct {
	t     testing.TB
	m     *Machine
	cfg   Config
	codec memo

	context string // said in failures
	now     time.Duration
	lane    map[string]OpID // outstanding operation of each lane
	last    OpID
	list    time.Duration // begin of the listing under way

	clear, finished bool
	tree            tree
	seq, num        uint64

	sent      []sentCreate
	gaveBack  map[uint64]bool   // epochs whose release was attempted
	held      map[uint64]uint64 // our epochs, by the rev each began with
	maxEpoch  uint64            // highest epoch of a record the machine was told
	listedAt  time.Duration     // begin of the newest listing that was answered
	listedTop uint64
	listedOK  bool
	old       map[uint64]time.Duration // since when listings show a rev superseded
	oldShare  string
}

// tree is the relay tree as the outside sees it.
type tree struct {
	gen, epoch uint64
	alive      bool
	stopped    bool // StopRelay was emitted
	until      time.Duration
}

// sentCreate is a create the machine has begun.
type sentCreate struct {
	op    OpID
	begun time.Duration
	rec   lease.Record
	out   Outcome
	done  bool
}

func newChecker(t testing.TB, m *Machine, cfg Config, codec memo) *checker {
	return &checker{
		t: t, m: m, cfg: cfg, codec: codec, lane: map[string]OpID{},
		gaveBack: map[uint64]bool{}, held: map[uint64]uint64{}, old: map[uint64]time.Duration{},
	}
}

func (c *checker) bad(format string, args ...any) {
	c.t.Fatalf("%s at %v: %s", c.context, c.now, fmt.Sprintf(format, args...))
}

// step judges what the machine made of an event.
func (c *checker) step(now time.Duration, ev Event, out []Action) {
	c.now = max(c.now, now)
	expired := c.tree.alive && !c.tree.stopped && c.now >= c.tree.until
	gen := c.tree.gen
	c.hear(ev)
	for _, a := range out {
		c.judge(ev, a)
	}
	if expired && c.tree.alive && c.tree.gen == gen && !c.tree.stopped {
		c.bad("rule 2: the deadline %v has passed, and %T did not stop the relay", c.tree.until, ev)
	}
	if w := c.m.Wake(); w <= c.now {
		c.bad("the next tick is wanted at %v, which is not in the future", w)
	}
	s := c.m.Status()
	if s.Relay == RelayNone && c.tree.alive {
		c.bad("status says no tree, but generation %d was never reported dead", c.tree.gen)
	}
}

// hear takes in an event.
func (c *checker) hear(ev Event) {
	switch ev := ev.(type) {
	case Listed:
		c.listed(ev)
	case ReadDone:
		if c.free("read", ev.Op) && ev.Outcome == OK {
			c.told(ev.Entry)
		}
	case Created:
		if c.free("create", ev.Op) {
			c.outcome(ev)
		}
	case Founded:
		c.free("create", ev.Op)
	case Published:
		c.free("publish", ev.Op)
	case Housekept:
		c.free("housekeep", ev.Op)
	case TreeClear:
		c.clear = true
	case RelayDown:
		if ev.Gen == c.tree.gen {
			c.tree.alive = false
		}
	}
}

func (c *checker) free(lane string, id OpID) bool {
	if id == 0 || c.lane[lane] != id {
		return false
	}
	delete(c.lane, lane)
	return true
}

func (c *checker) told(e lease.Entry) {
	if e.Kind == lease.Valid {
		c.maxEpoch = max(c.maxEpoch, e.Record.Epoch)
	}
}

func (c *checker) listed(ev Listed) {
	if !c.free("read", ev.Op) || ev.Outcome != OK || ev.Share == "" || len(ev.Revs) == 0 {
		return
	}
	c.listedAt, c.listedOK, c.listedTop = c.list, true, ev.Revs[len(ev.Revs)-1]
	if ev.Share != c.oldShare {
		c.oldShare, c.old = ev.Share, map[uint64]time.Duration{}
	}
	for _, rev := range ev.Revs[:len(ev.Revs)-1] {
		if _, known := c.old[rev]; !known {
			c.old[rev] = c.now
		}
	}
}

func (c *checker) outcome(ev Created) {
	for i := range c.sent {
		if c.sent[i].op == ev.Op {
			c.sent[i].out, c.sent[i].done = ev.Outcome, true
			if ev.Outcome == OK {
				c.maxEpoch = max(c.maxEpoch, c.sent[i].rec.Epoch)
			}
		}
	}
}

// judge checks one action.
func (c *checker) judge(ev Event, a Action) {
	switch a := a.(type) {
	case List:
		c.begin("read", a.Op)
		c.list = c.now
	case Read:
		c.begin("read", a.Op)
	case Create:
		c.begin("create", a.Op)
		c.create(a)
	case Found:
		c.begin("create", a.Op)
		if c.tree.alive || c.finished {
			c.bad("a chain is founded while a tree lives or after the end")
		}
	case Publish:
		c.begin("publish", a.Op)
	case Housekeep:
		c.begin("housekeep", a.Op)
		c.housekeep(a)
	case SendBeat:
		c.beat(a)
	case SendVouch:
		c.vouch(ev, a)
	case StartRelay:
		c.start(a)
	case SetUntil:
		c.setUntil(a)
	case SetWill:
		if a.Gen != c.tree.gen || !c.tree.alive {
			c.bad("a will for generation %d, which does not live", a.Gen)
		}
	case StopRelay:
		down, _ := ev.(RelayDown) // what expires is stopped before the event is looked at
		if a.Gen != c.tree.gen || !c.tree.alive && down.Gen != a.Gen {
			c.bad("generation %d is stopped, which does not live", a.Gen)
		}
		c.tree.stopped = true
	case Finished:
		if c.tree.alive || c.lane["create"] != 0 {
			c.bad("finished although a tree lives or a create is under way")
		}
		c.finished = true
	}
}

func (c *checker) begin(lane string, id OpID) {
	if busy := c.lane[lane]; busy != 0 {
		c.bad("rule 9: two operations in the %s lane: %d is under way, %d begins", lane, busy, id)
	}
	if id <= c.last {
		c.bad("operation ids must grow: %d after %d", id, c.last)
	}
	c.last = id
	c.lane[lane] = id
}

func (c *checker) create(a Create) {
	if c.finished {
		c.bad("a create after the end")
	}
	e := c.codec.Open(a.Share, a.Rev, a.Body)
	if e.Kind != lease.Valid {
		c.bad("record %d as created is %v: %s", a.Rev, e.Kind, e.Cause)
	}
	r := e.Record
	switch _, known := c.held[r.Epoch]; {
	case r.State == lease.Released:
		if c.tree.alive {
			c.bad("rule 7: release %d before the tree is dead", a.Rev)
		}
		if !known {
			c.bad("rule 7: release %d of epoch %d, which was never ours", a.Rev, r.Epoch)
		}
		c.gaveBack[r.Epoch] = true
	case c.gaveBack[r.Epoch]:
		c.bad("rule 7: held record %d in epoch %d, whose release was attempted", a.Rev, r.Epoch)
	case !known || c.held[r.Epoch] == a.Rev && !c.acked(r.Epoch):
		c.takeOver(r)
	}
	if c.tree.alive && c.tree.epoch != r.Epoch {
		c.bad("record %d of epoch %d while the tree of epoch %d lives", a.Rev, r.Epoch, c.tree.epoch)
	}
	if c.tree.alive && !c.tree.stopped && c.now >= c.tree.until {
		c.bad("rule 2: create %d begins after the deadline", a.Rev)
	}
	c.sent = append(c.sent, sentCreate{op: a.Op, begun: c.now, rec: r})
}

// takeOver checks the first record of a tenure (rules 4 and 11).
func (c *checker) takeOver(r lease.Record) {
	c.held[r.Epoch] = r.Rev
	switch s := c.m.Status(); {
	case !c.clear:
		c.bad("rule 4: takeover %d before the trees of earlier runs are gone", r.Rev)
	case c.tree.alive:
		c.bad("rule 4: takeover %d while our tree lives", r.Rev)
	case !c.listedOK || c.now-c.listedAt >= 30*time.Second:
		c.bad("rule 4: takeover %d without a listing of the last 30 s", r.Rev)
	case r.Rev != s.Rev+1:
		c.bad("rule 4: takeover creates %d over head %d", r.Rev, s.Rev)
	case r.Epoch <= c.maxEpoch:
		c.bad("rule 11: new epoch %d, but %d is known", r.Epoch, c.maxEpoch)
	}
}

// acked reports whether a record of this epoch is known to have been created.
func (c *checker) acked(epoch uint64) bool {
	for _, s := range c.sent {
		if s.rec.Epoch == epoch && s.done && s.out == OK {
			return true
		}
	}
	return false
}

// bound is the latest deadline any of our creates of an epoch could allow: the
// precise one is checked by the tests of rule 2.
func (c *checker) bound(epoch uint64) time.Duration {
	bound := time.Duration(0)
	for _, s := range c.sent {
		if s.rec.Epoch == epoch && s.rec.State == lease.Held && (!s.done || s.out != NoBody) {
			bound = max(bound, s.begun+s.rec.TTL-KillMargin(s.rec.Fence))
		}
	}
	return bound
}

func (c *checker) start(a StartRelay) {
	switch {
	case c.tree.alive:
		c.bad("a relay is started while generation %d may live", c.tree.gen)
	case !c.clear:
		c.bad("a relay is started before the trees of earlier runs are gone")
	case a.Gen <= c.tree.gen:
		c.bad("generations must grow: %d after %d", a.Gen, c.tree.gen)
	case c.gaveBack[a.Epoch]:
		c.bad("rule 7: a relay in epoch %d, whose release was attempted", a.Epoch)
	case c.finished:
		c.bad("a relay is started after the end")
	case a.Until <= c.now:
		c.bad("rule 5: a relay is started past its deadline %v", a.Until)
	}
	c.within(a.Epoch, a.Until)
	c.grow(a.Seq)
	c.tree = tree{gen: a.Gen, epoch: a.Epoch, alive: true, until: a.Until}
}

func (c *checker) within(epoch uint64, until time.Duration) {
	if b := c.bound(epoch); until > b {
		c.bad("rule 2: deadline %v is beyond C+TTL-KILL_MARGIN = %v", until, b)
	}
}

func (c *checker) grow(seq uint64) {
	if seq <= c.seq {
		c.bad("deadline numbers must grow: %d after %d", seq, c.seq)
	}
	c.seq = seq
}

func (c *checker) setUntil(a SetUntil) {
	if a.Gen != c.tree.gen || !c.tree.alive {
		c.bad("a deadline for generation %d, which does not live", a.Gen)
	}
	c.within(c.tree.epoch, a.Until)
	c.grow(a.Seq)
	c.tree.until = a.Until
}

func (c *checker) beat(a SendBeat) {
	if a.Num <= c.num {
		c.bad("beat numbers must grow: %d after %d", a.Num, c.num)
	}
	c.num = a.Num
	e := c.codec.Open("", 0, a.Body)
	if e.Kind != lease.Valid || e.Record.Owner != c.cfg.Self || e.Record.State != lease.Held {
		c.bad("beat %d carries no held record of ours", a.Num)
	}
	if containsID(a.To, c.cfg.Self) {
		c.bad("beat %d goes to ourselves", a.Num)
	}
}

// vouch checks rule 3.
func (c *checker) vouch(ev Event, a SendVouch) {
	b, ok := ev.(BeatReceived)
	if !ok || b.From != a.To || b.Num != a.Num {
		c.bad("rule 3: a vouch that answers no beat: %+v to %T", a, ev)
	}
	head := c.m.Status().Rev
	for _, s := range c.sent {
		if s.rec.Share == b.Entry.Record.Share && s.rec.Rev > max(head, b.Entry.Record.Rev) {
			c.bad("rule 3: vouches for a beat of %d with head %d, although a create of %d was begun", b.Entry.Record.Rev, head, s.rec.Rev)
		}
	}
}

// housekeep checks rule 9.
func (c *checker) housekeep(a Housekeep) {
	for _, rev := range a.Revs {
		from, known := c.old[rev]
		if !known || c.now-from < 80*time.Second {
			c.bad("rule 9: record %d is deleted, listed as superseded for %v (%t)", rev, c.now-from, known)
		}
	}
}
