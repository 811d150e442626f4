package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// checker knows the truth: what was really created, which vouches were really
// sent, which relays really live. It never asks a machine what it believes.
type checker struct {
	w       *World
	tenures map[tenureKey]*tenure
	beats   map[lease.ID]*beatLog
	epochs  map[epochKey]lease.ID // whose relay ran under an epoch of a chain
	sites   map[uint64]lease.ID   // and under an epoch of any chain
	top     map[string]mark       // highest readable record per chain
	holders map[holdKey]lease.ID  // who counts a record as its own and acknowledged
	changes int                   // relays started or ended so far
	changed time.Duration         // when the last one did
	beside  time.Duration         // since when relays of two folders run at once; zero if none do
}

type tenureKey struct {
	owner lease.ID
	epoch uint64
	share string
}

// tenure is what one run has really asked of the share under one epoch.
type tenure struct {
	attempts []*attempt // held records, in the order they were first begun
	released bool       // a release was begun
	started  bool       // a guard was started
}

// attempt is one record asked for: begun, and perhaps really there.
type attempt struct {
	rec   lease.Record
	begun time.Duration // boot time of its host when this create began
	there bool          // created, body and all
	// refused is set once its caller has been told that the body failed: nothing
	// was won with it then, even if the body turns up later.
	refused bool
}

// beatLog is when a run really sent its beats, and who really vouched for which.
type beatLog struct {
	nums    []uint64
	sent    []time.Duration // boot time of the sender
	vouched map[lease.ID]uint64
}

type epochKey struct {
	share string
	epoch uint64
}

type mark struct{ rev, epoch uint64 }

func newChecker(w *World) *checker {
	return &checker{
		w: w, tenures: map[tenureKey]*tenure{}, beats: map[lease.ID]*beatLog{},
		epochs: map[epochKey]lease.ID{}, sites: map[uint64]lease.ID{}, top: map[string]mark{},
		holders: map[holdKey]lease.ID{},
	}
}

func keyOf(r lease.Record) tenureKey { return tenureKey{r.Owner, r.Epoch, r.Share} }

func (c *checker) tenure(k tenureKey) *tenure {
	t := c.tenures[k]
	if t == nil {
		t = &tenure{}
		c.tenures[k] = t
	}
	return t
}

// createBegun is called when a machine begins a create, before it leaves. It
// returns the attempt that is to be told when the record is really there, or
// nil for a release.
func (c *checker) createBegun(d *daemon, a arbiter.Create) *attempt {
	w := c.w
	w.stats.Creates++
	if d.creates.over(w.now, 10*time.Second, d.createBound()) {
		w.fail("livelock", "%s begins more than %d creates in 10 s", d.name, d.createBound())
	}
	e := w.vault.open(a.Share, a.Rev, a.Body)
	switch {
	case e.Kind != lease.Valid || e.Record.Owner != d.id:
		w.fail("action", "%s creates a record that is not its own: %s", d.name, showEntry(w, e))
	case e.Record.State == lease.Released:
		c.releaseBegun(d, e.Record)
	default:
		return c.heldBegun(d, e)
	}
	return nil
}

// releaseBegun checks rule 7: nothing runs any more when a release is begun.
func (c *checker) releaseBegun(d *daemon, r lease.Record) {
	c.tenure(keyOf(r)).released = true
	for _, x := range c.w.relays {
		if x.guard.of == d {
			c.w.fail("release", "%s releases %d while its relay lives", d.name, r.Rev)
		}
	}
}

func (c *checker) heldBegun(d *daemon, e lease.Entry) *attempt {
	d.lastShare = e.Record.Share
	t := c.tenure(keyOf(e.Record))
	c.betweenWinAndStart(d, t, e.Record)
	a := &attempt{rec: e.Record, begun: d.host.local()}
	t.attempts = append(t.attempts, a)
	for _, g := range d.host.guards {
		if g.of == d && g.relay != nil {
			c.underRule2(g, "begins a create that shortens its deadline")
		}
	}
	return a
}

// betweenWinAndStart checks rule 5: between winning a tenure and starting its
// relay no other create of it begins.
func (c *checker) betweenWinAndStart(d *daemon, t *tenure, r lease.Record) {
	for _, a := range t.attempts {
		if a.there && !a.refused && a.rec.Rev < r.Rev && !t.started {
			c.w.fail("rule 5", "%s creates %d although the relay of its tenure, won with %d, has not been started", d.name, r.Rev, a.rec.Rev)
			return
		}
	}
}

// written is called when a record really has its body.
func (c *checker) written(a arbiter.Create, at *attempt) {
	if at != nil {
		at.there = true
		if at.refused {
			return // its epoch is nobody's tenure, and its creator goes on without it
		}
	}
	r := c.w.vault.open(a.Share, a.Rev, a.Body).Record
	was := c.top[a.Share]
	switch {
	case a.Rev > was.rev && r.Epoch < was.epoch && c.w.opt.Tokens > 1:
		c.w.stats.Fallen++
	case a.Rev > was.rev && r.Epoch < was.epoch:
		c.w.fail("epoch", "record %d has epoch %d, but %d already has %d", a.Rev, r.Epoch, was.rev, was.epoch)
	case a.Rev > was.rev:
		c.top[a.Share] = mark{a.Rev, r.Epoch}
	}
}

// beat notes that a beat is really sent now.
func (c *checker) beat(d *daemon, num uint64) {
	l := c.beats[d.id]
	if l == nil {
		l = &beatLog{vouched: map[lease.ID]uint64{}}
		c.beats[d.id] = l
	}
	if n := len(l.nums); n > 0 && num <= l.nums[n-1] {
		c.w.fail("action", "%s sends beat %d after %d", d.name, num, l.nums[n-1])
		return
	}
	l.nums, l.sent = append(l.nums, num), append(l.sent, d.host.local())
}

// vouched notes that a member really vouches for a beat now.
func (c *checker) vouched(d *daemon, a arbiter.SendVouch) {
	l := c.beats[a.To]
	if l == nil {
		c.w.fail("action", "%s vouches for beat %d of %v, who never sent one", d.name, a.Num, a.To)
		return
	}
	l.vouched[d.id] = max(l.vouched[d.id], a.Num)
}

// sentAt returns when a beat was sent.
func (l *beatLog) sentAt(num uint64) (time.Duration, bool) {
	for i := len(l.nums) - 1; i >= 0; i-- {
		if l.nums[i] == num {
			return l.sent[i], true
		}
		if l.nums[i] < num {
			break
		}
	}
	return 0, false
}

// newest returns the send time of the newest beat a member vouched for.
func (c *checker) newest(leader, member lease.ID) (time.Duration, bool) {
	l := c.beats[leader]
	if l == nil {
		return 0, false
	}
	num, ok := l.vouched[member]
	if !ok {
		return 0, false
	}
	return l.sentAt(num)
}

// bound is rule 2 from the truth: until when the relay of a tenure may exist at
// most, in boot time of its host, KILL_MARGIN not subtracted. It is never
// stricter than what the machine may know: a record counts from the moment it
// is really there, a vouch from the moment it is really sent.
func (c *checker) bound(t *tenure, owner lease.ID) (time.Duration, bool) {
	var base *attempt
	for _, a := range t.attempts {
		if a.there && (base == nil || a.rec.Rev > base.rec.Rev) {
			base = a
		}
	}
	if base == nil {
		return 0, false
	}
	begun, ttl, fence, roster := base.begun, base.rec.TTL, base.rec.Fence, base.rec.Roster
	for _, a := range t.attempts {
		if a.rec.Rev > base.rec.Rev { // of its own rev nothing else can come to be
			ttl, fence = min(ttl, a.rec.TTL), min(fence, a.rec.Fence)
			roster = append(roster[:len(roster):len(roster)], a.rec.Roster...)
		}
	}
	byVouch := begun + ttl
	for _, m := range roster {
		v, ok := c.newest(owner, m)
		if !ok {
			return min(begun+ttl, begun+fence), true
		}
		byVouch = min(byVouch, v+fence)
	}
	return min(begun+ttl, max(begun+fence, byVouch)), true
}

// underRule2 checks that the deadline a guard applies is one that rule 2 allows.
func (c *checker) underRule2(g *guard, what string) {
	if g.dying || g.relay == nil {
		return
	}
	t := c.tenures[tenureKey{g.of.id, g.epoch, g.share}]
	if t == nil {
		c.w.fail("rule 2", "the relay of %s runs under epoch %d, of which there is no record", g.of.name, g.epoch)
		return
	}
	bound, ok := c.bound(t, g.of.id)
	if !ok || g.until+g.killMargin() > bound {
		c.w.fail("rule 2", "%s %s: its guard kills by %v, rule 2 says %v (there: %v)", g.of.name, what, g.until+g.killMargin(), bound, ok)
	}
}
