package simnet

import "time"

// This file holds the checks that concern relays: how many live, under which
// epoch, and for how long.

// relayStarted is called when a relay tree begins to exist.
func (c *checker) relayStarted(r *relay) {
	w := c.w
	c.changed, c.changes = w.now, c.changes+1
	c.epochStarted(r)
	if t := c.tenures[tenureKey{r.owner, r.epoch, r.guard.share}]; t != nil && t.released {
		w.fail("release", "the relay of %s starts in epoch %d after a release was begun", r.guard.of.name, r.epoch)
	}
	c.underRule2(r.guard, "starts a relay")
	c.atMostOne()
}

// epochStarted checks that an epoch belongs to one run. Across chains that is
// best effort: after a wipe only what members still remember can be counted on,
// so a repetition there is reported, not forbidden.
func (c *checker) epochStarted(r *relay) {
	w, k := c.w, epochKey{r.guard.share, r.epoch}
	owner, known := c.epochs[k]
	switch {
	case known && owner != r.owner && w.opt.Tokens > 1:
		w.stats.Fallen++
		return
	case known && owner != r.owner:
		w.fail("epoch", "epoch %d was the tenure of %s and is now that of %s", r.epoch, w.nameOf(owner), w.nameOf(r.owner))
		return
	case known:
		return
	case len(c.epochs) > 0:
		w.stats.Takeovers++
	}
	c.epochs[k] = r.owner
	if other, ok := c.sites[r.epoch]; ok && other != r.owner {
		w.stats.Reused++
	}
	c.sites[r.epoch] = r.owner
}

// guardTold is called when a guard applies a new deadline.
func (c *checker) guardTold(g *guard) { c.underRule2(g, "moves a deadline") }

// relayWoke is called when a relay's host wakes.
func (c *checker) relayWoke(r *relay) { c.atMostOne() }

// relayEnded is called when a tree exists no more.
func (c *checker) relayEnded(r *relay) {
	w := c.w
	c.changed, c.changes = w.now, c.changes+1
	c.measureFolders()
	h := r.guard.host
	// A guard that stood still may be behind with its orders: what binds then is
	// the newest deadline its daemon has sent, and enforces.
	if r.guard.stoodStill && h.local() <= r.guard.told+r.guard.killMargin() {
		return
	}
	if r.wokeLate {
		w.stats.Excused++
		ran := r.late(w.now)
		if ran > r.guard.killMargin()*1006/1000 {
			w.fail("woke late", "the relay of %s ran for %v after waking past its deadline", r.guard.of.name, ran)
		}
		if c.running() > 0 {
			w.stats.MaxExcused = max(w.stats.MaxExcused, ran)
		}
		return
	}
	if late := h.local() - r.guard.until - r.guard.killMargin(); late > time.Microsecond && h.up {
		w.fail("guard", "the relay of %s ended %v after its deadline and KILL_MARGIN", r.guard.of.name, late)
	}
}

// running counts relays whose processes execute.
func (c *checker) running() (n int) {
	for _, r := range c.w.relays {
		if r.running() {
			n++
		}
	}
	return n
}

// atMostOne is the promise: never two. A relay that slept past its deadline and
// is about to be killed is the documented exception, bounded by relayEnded. Members of
// two folders can only find each other by gossip: how long relays of both run at
// once is measured, and that it ends is checked once the world has healed.
func (c *checker) atMostOne() {
	first := map[any]*relay{}
	for _, r := range c.w.relays {
		if !r.running() || r.wokeLate {
			continue
		}
		k := c.folderOf(r)
		if other := first[k]; other != nil {
			c.w.fail("never two", "relays of %s (epoch %d) and %s (epoch %d) run at once",
				other.guard.of.name, other.epoch, r.guard.of.name, r.epoch)
			return
		}
		first[k] = r
	}
	c.measureFolders()
}

// folderOf tells the folder a relay's lease is in. Where PCs change folders while
// their relay runs, the chain does.
func (c *checker) folderOf(r *relay) any {
	if c.w.opt.Mode == Moved {
		return r.guard.share
	}
	return r.guard.host.share
}

// foundOut is how long relays of two folders may run beside each other where every
// member lives and hears the others: as long as gossip is late at most, and a stop
// takes.
const foundOut = 3 * time.Second

// measureFolders is called whenever a relay begins to run or ends.
func (c *checker) measureFolders() {
	with := map[any]bool{}
	for _, r := range c.w.relays {
		if r.running() && !r.wokeLate {
			with[c.folderOf(r)] = true
		}
	}
	switch two := len(with) > 1; {
	case two && c.beside == 0:
		c.beside = c.w.now
	case !two && c.beside != 0:
		took := c.w.now - c.beside
		c.w.stats.MaxFolders = max(c.w.stats.MaxFolders, took)
		if c.beside = 0; c.w.opt.Mode == Moved && took > foundOut {
			c.w.fail("never two", "relays of two folders ran beside each other for %v", took)
		}
	}
}

// createBound is how many creates a daemon may begin in 10 s: one per BEAT/2,
// the quickest that the machine retries anything.
func (d *daemon) createBound() int { return int(20*time.Second/d.fig.Beat) + 10 }

// rate counts things in a sliding window.
type rate struct {
	since time.Duration
	n     int
}

// over counts one more and reports whether the window has seen too many.
func (r *rate) over(now, window time.Duration, limit int) bool {
	if now >= r.since+window {
		r.since, r.n = now, 0
	}
	r.n++
	return r.n > limit
}
