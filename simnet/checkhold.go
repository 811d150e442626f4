package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// This file holds the checks that concern who has the lease: that it is taken
// from nobody whose relay may still run, and that a record has one holder.

type holdKey struct {
	share string
	rev   uint64
}

// named is called when a name above all others has come to be in a chain. If
// somebody else's relay executes then, and not because its PC has just woken
// past its deadline, a healthy leader has lost the lease: rule 4 lets nobody
// begin before the deadline of rule 2 is over, and the tree with it.
func (c *checker) named(s *share, a arbiter.Create) {
	e := c.w.vault.open(a.Share, a.Rev, a.Body)
	if e.Kind != lease.Valid || e.Record.State != lease.Held || c.w.opt.Mode == Restore {
		return
	}
	for rev := range s.chain.live {
		if rev > a.Rev {
			return // a request that was under way for minutes: the number was free again
		}
	}
	for _, r := range c.w.relays {
		if r.running() && !r.wokeLate && r.guard.host.share == s && r.owner != e.Record.Owner {
			c.takenEarly(e.Record, r)
			return
		}
	}
}

// takenEarly fails a moment later, so that a second relay, which the taker is
// about to start, is reported as what it is.
func (c *checker) takenEarly(by lease.Record, r *relay) {
	at := c.w.now
	c.w.after(time.Second, func() {
		c.w.fail("taken early", "%s got record %d (%s) at %v while the relay of %s, epoch %d, ran",
			c.w.nameOf(by.Owner), by.Rev, by.Reason, at, r.guard.of.name, r.epoch)
	})
}

// holds is called when a holder hands its guard the record it counts on. A rev
// has one holder for ever: its file is created once, and deleted only when a
// higher one has been there for long.
func (c *checker) holds(d *daemon, r lease.Record) {
	k := holdKey{r.Share, r.Rev}
	was, known := c.holders[k]
	if known && was != d.id && c.w.opt.Mode != Restore {
		c.w.fail("rev", "%s counts on record %d, which is %s's", d.name, r.Rev, c.w.nameOf(was))
		return
	}
	c.holders[k] = d.id
}
