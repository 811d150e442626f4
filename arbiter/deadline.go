package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// Figures of the protocol that are not settings.
const (
	// listingAge bounds how old the listing may be that a takeover rests on,
	// counted from when the listing began to when the create is acknowledged.
	// It must stay below retention less the 10 s a client may cache a listing.
	listingAge = 30 * time.Second
	// retention is how long a record must have been seen superseded before the
	// leader deletes it: max(60 s, 4·TTL_MAX).
	retention = 4 * lease.TTLMax
	// orderGap separates candidates, so that usually only one create is sent.
	orderGap = 150 * time.Millisecond
	// driftNum/driftDen and driftAdd make the waiting side's x' = x·1.02 + 20 ms:
	// two clocks that each err by up to 1 %, and timers that fire late.
	driftNum, driftDen = 102, 100
	driftAdd           = 20 * time.Millisecond
	// deniedPause is how long a member steps back after the share refused it a
	// create for want of rights.
	deniedPause = 10 * time.Second
	// cacheAge is how long an SMB client may serve a stale listing.
	cacheAge = 10 * time.Second
)

// prime is x': how long somebody else's period x lasts on my clock at most.
func prime(x time.Duration) time.Duration { return x*driftNum/driftDen + driftAdd }

// KillMargin is the time within which a whole process tree must be dead once
// its deadline has passed: min(200 ms, FENCE/4). The holder subtracts it from
// its own deadline.
func KillMargin(fence time.Duration) time.Duration { return min(200*time.Millisecond, fence/4) }

// claim is what the holder of a lease has told others, or may have: the union
// of rosters and the smallest figures over its last acknowledged record and
// every attempt since (rule 2).
type claim struct {
	begun  time.Duration // C of the last acknowledged record
	ttl    time.Duration
	fence  time.Duration
	roster []lease.ID
}

// add folds a record into the claim.
func (c *claim) add(r lease.Record) {
	if c.ttl == 0 || r.TTL < c.ttl {
		c.ttl = r.TTL
	}
	if c.fence == 0 || r.Fence < c.fence {
		c.fence = r.Fence
	}
	for _, id := range r.Roster {
		if !containsID(c.roster, id) {
			c.roster = append(c.roster, id)
		}
	}
}

// shortened reports whether folding r in would move a deadline forward: it
// names somebody new, or a smaller figure.
func (c claim) shortened(r lease.Record) bool {
	if r.TTL < c.ttl || r.Fence < c.fence {
		return true
	}
	for _, id := range r.Roster {
		if !containsID(c.roster, id) {
			return true
		}
	}
	return false
}

// deadline is rule 2. vouched returns the send time of the newest beat that a
// member vouched for, and whether there is one.
func (c claim) deadline(vouched func(lease.ID) (time.Duration, bool), margin time.Duration) (until time.Duration, by string) {
	ttl := c.begun + c.ttl
	until, by = c.begun+c.fence, "share"
	oldest, all := ttl, true
	for _, id := range c.roster {
		v, ok := vouched(id)
		if !ok {
			all = false
			break
		}
		oldest = min(oldest, v+c.fence)
	}
	if all && oldest > until {
		until, by = oldest, "vouches"
	}
	if until >= ttl {
		until, by = ttl, "ttl"
	}
	return until - margin, by
}

func containsID(ids []lease.ID, id lease.ID) bool {
	for _, x := range ids {
		if x == id {
			return true
		}
	}
	return false
}
