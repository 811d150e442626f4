package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// call is one operation on the share on its way: it leaves the process, reaches
// the server some time later (or never, or long after its caller gave up), is
// carried out there, and its answer comes back (or is lost).
type call struct {
	host    *host
	daemon  *daemon      // the caller, or nil if a guard calls
	guard   *guard       // the caller, for a last will
	done    func(result) // a guard's answer
	act     arbiter.Action
	lane    int
	op      arbiter.OpID
	began   time.Duration
	attempt *attempt // what the checker knows of a create

	answered bool
}

// result is what the caller is told.
type result struct {
	outcome arbiter.Outcome
	share   string
	revs    []uint64
	entry   lease.Entry
}

// changes reports whether a call changes the share: its outcome can be unknown.
func (c *call) changes() bool {
	switch c.act.(type) {
	case arbiter.List, arbiter.Read:
		return false
	}
	return true
}

// lost is what a caller is told when the connection breaks under a request
// that has left.
func (c *call) lost() result {
	if c.changes() {
		return result{outcome: arbiter.Uncertain}
	}
	return result{outcome: arbiter.Unavailable}
}

func (c *call) alive() bool {
	if c.guard != nil {
		return !c.guard.dead
	}
	return !c.daemon.dead
}

// keys are those of the calling process.
func (c *call) keys() *vault {
	if c.guard != nil {
		return c.guard.of.keys
	}
	return c.daemon.keys
}

func (c *call) awake() bool {
	if c.guard != nil {
		return !c.host.asleep()
	}
	return c.daemon.awake()
}

// leave sends the request, as soon as the calling process runs.
func (w *World) leave(c *call) {
	switch {
	case !c.alive():
		return
	case !c.awake():
		c.host.park(func() { w.leave(c) })
		return
	}
	if c.host.copy != nil {
		w.after(w.dice.between(time.Millisecond, 20*time.Millisecond), func() { w.arrive(c, 0) })
		return
	}
	if c.guard == nil && c.lane == createLane && w.meddled(c) {
		return
	}
	s := w.opt.Share
	if c.host.shareCuts > 0 && w.dice.chance(0.5) {
		w.soon(w.dice.spread(time.Millisecond, 5*time.Second), func() { w.answer(c, result{outcome: arbiter.Unavailable}) })
		return
	}
	if s.GiveUp > 0 {
		w.after(s.GiveUp, func() { w.answer(c, c.lost()) })
	}
	_, creates := c.act.(arbiter.Create)
	if creates && w.dice.chance(s.Late) {
		w.after(w.dice.between(s.Min, s.Max), func() { w.answer(c, c.lost()) })
		w.arriveLate(c, w.dice.spread(s.Min, s.LateMax))
		return
	}
	delay := w.dice.spread(s.Min, s.Max)
	if w.dice.chance(s.Spike) {
		delay = w.dice.between(0, s.SpikeMax)
	}
	w.soon(delay/2, func() { w.arrive(c, delay-delay/2) })
}

// arriveLate lets a request reach the server after its caller was told that
// its outcome is unknown; at the latest when the world heals.
func (w *World) arriveLate(c *call, delay time.Duration) {
	w.untilHealed(delay, func() { w.arrive(c, 0) })
}

// arrive carries the call out at the server, unless the way there is blocked.
func (w *World) arrive(c *call, back time.Duration) {
	blocked := max(c.host.share.stalledUntil, c.host.shareStall)
	switch {
	case c.host.copy != nil:
		w.answerOffline(c)
		return
	case blocked > w.now:
		w.after(min(blocked-w.now, 250*time.Millisecond), func() { w.arrive(c, back) })
		return
	case c.host.shareCuts > 0 && w.dice.chance(0.2):
		w.answer(c, c.lost()) // the connection broke, the request with it
		return
	case c.host.shareCuts > 0:
		w.after(250*time.Millisecond, func() { w.arrive(c, back) }) // reconnecting
		return
	}
	if a, ok := c.act.(arbiter.Create); ok {
		w.create(c, a, back)
		return
	}
	w.reply(c, w.carryOut(c), back)
}

// reply brings the answer back.
func (w *World) reply(c *call, r result, back time.Duration) {
	w.soon(back, func() {
		lost := c.changes() && w.dice.chance(w.opt.Share.LostAck)
		if lost || c.host.shareCuts > 0 {
			r = c.lost()
		}
		w.answer(c, r)
	})
}

// create is carried out in two requests, as every file system does: the name,
// which is decided at once and for ever, and the body.
func (w *World) create(c *call, a arbiter.Create, back time.Duration) {
	f, out := c.host.share.create(a.Share, a.Rev, w.now)
	if out != arbiter.OK {
		w.reply(c, result{outcome: out}, back)
		return
	}
	if w.tracing() {
		w.detail("share: %d created by %s", a.Rev, c.host.name)
	}
	w.checker.named(c.host.share, a)
	if c.host.told.holdBody {
		w.holdBody(c, a, f)
		return
	}
	s := w.opt.Share
	switch {
	case w.dice.chance(s.NoBody):
		out := oneOf(w.dice, arbiter.NoBody, arbiter.Uncertain)
		w.reply(c, result{outcome: out}, back)
		if w.dice.chance(0.3) {
			w.untilHealed(w.dice.spread(time.Millisecond, s.LateMax), func() { w.write(c, a, f) })
		}
	case w.dice.chance(s.TornBody):
		f.body = a.Body[:len(a.Body)/2]
		w.reply(c, result{outcome: oneOf(w.dice, arbiter.NoBody, arbiter.Uncertain)}, back)
		if w.dice.chance(0.3) {
			w.untilHealed(w.dice.spread(time.Millisecond, s.LateMax), func() { w.write(c, a, f) })
		}
	case w.dice.chance(s.SplitBody):
		w.soon(w.dice.spread(time.Millisecond, s.SplitMax), func() { w.writeLater(c, a, f, back) })
	default:
		w.write(c, a, f)
		w.reply(c, result{outcome: arbiter.OK}, back)
	}
}

// writeLater is the second request of a create; a caller that died in between
// leaves an empty record, one that froze writes it when it wakes.
func (w *World) writeLater(c *call, a arbiter.Create, f *file, back time.Duration) {
	switch {
	case !c.alive():
	case !c.awake():
		c.host.park(func() { w.writeLater(c, a, f, back) })
	default:
		w.write(c, a, f)
		w.reply(c, result{outcome: arbiter.OK}, back)
	}
}

// write gives a created file its body.
func (w *World) write(c *call, a arbiter.Create, f *file) {
	f.body = a.Body
	w.checker.written(a, c.attempt)
	w.story("share: %s", showEntry(w, w.vault.open(a.Share, a.Rev, a.Body)))
}

// carryOut does what all other calls ask, at the server's instant.
func (w *World) carryOut(c *call) result {
	switch a := c.act.(type) {
	case arbiter.List:
		l := w.listFor(c.host)
		return result{share: l.share, revs: append([]uint64(nil), l.revs...)}
	case arbiter.Read:
		return w.readFor(c.host, c.keys(), a)
	case arbiter.Found:
		if w.opt.Mode == Emptied && c.host.disk().wiped > c.began {
			// The folder was built under a temporary name in LEASE_DIR before it is
			// moved into place: who emptied that has emptied it, too.
			return result{outcome: arbiter.NotExist}
		}
		r := result{outcome: c.host.disk().found(a.Share, a.Rev, a.Genesis, w.now)}
		w.story("share: %s founds a chain at %d: %v", c.host.name, a.Rev, r.outcome)
		return r
	case arbiter.Publish:
		c.host.disk().view = a.Record
		return result{}
	case arbiter.Housekeep:
		return result{outcome: c.host.disk().remove(a.Share, a.Revs, w.now)}
	}
	return result{outcome: arbiter.Denied}
}

// Client-side caches of SMB: listings may be 10 s old, "not found" 5 s.
const (
	listingAge = 10 * time.Second
	missAge    = 5 * time.Second
)

// listFor answers a listing, perhaps from the client's cache.
func (w *World) listFor(h *host) listing {
	if h.cache.known && w.now < min(h.told.cachedUntil, h.cache.taken+listingAge) {
		return h.cache
	}
	if h.cache.known && w.now-h.cache.taken < listingAge && w.dice.chance(w.opt.Share.StaleList) {
		return h.cache
	}
	h.cache = h.disk().list(w.now)
	return h.cache
}

// readFor reads a record, perhaps missing it because it was missing before.
func (w *World) readFor(h *host, keys *vault, a arbiter.Read) result {
	if at, ok := h.misses[a.Rev]; ok && w.now-at < missAge && w.dice.chance(w.opt.Share.StaleMiss) {
		return result{outcome: arbiter.NotExist}
	}
	f := h.disk().read(a.Share, a.Rev)
	if f == nil {
		h.misses[a.Rev] = w.now
		return result{outcome: arbiter.NotExist}
	}
	delete(h.misses, a.Rev)
	return result{entry: keys.open(a.Share, a.Rev, f.body)}
}
