package daemon

import (
	"slices"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

// clockLooks is how many renewals the leader's clock is read from. A record that
// arrives late makes the clock look slow, never fast, so the best of a few is
// taken, and a clock that was set is seen as it is after as many.
const clockLooks = 3

// untilLayout is how a record says until when it lasts, in the local time of
// its creator.
const untilLayout = "20060102150405"

// leaderClock compares the wall clock of whoever leads with this PC's. Nothing
// is sent for it: each renewal says by the leader's clock when it was made, and
// a member learns of it at once. It is for people; nothing is decided by it.
type leaderClock struct {
	mu    sync.Mutex
	owner lease.ID
	name  string
	rev   uint64
	looks []time.Duration // the newest ones, at most clockLooks
}

// saw takes in the newest record, which was first seen at wall. Only a renewal
// whose predecessor was seen here counts: any other may be old.
func (c *leaderClock) saw(head lease.Entry, wall time.Time) {
	r := head.Record
	if head.Kind != lease.Valid {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.State != lease.Held || r.Owner != c.owner {
		c.owner, c.name, c.looks = lease.ID{}, "", nil
		if r.State == lease.Held {
			c.owner, c.name, c.rev = r.Owner, r.Station, r.Rev
		}
		return
	}
	if r.Rev == c.rev {
		return
	}
	next := r.Rev == c.rev+1
	c.rev = r.Rev
	until, err := time.ParseInLocation(untilLayout, r.LeaseUntil, wall.Location())
	if !next || err != nil {
		c.looks = nil // news was missed: this PC slept or was cut off
		return
	}
	const half = time.Second / 2 // it names whole seconds, those that have passed
	c.looks = append(c.looks, until.Add(half-r.TTL).Sub(wall))
	c.looks = c.looks[max(0, len(c.looks)-clockLooks):]
}

// status is what is known, or nil. A single look may be late.
func (c *leaderClock) status() *localapi.ClockStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.looks) < 2 {
		return nil
	}
	return &localapi.ClockStatus{Station: c.name, SkewMS: slices.Max(c.looks).Milliseconds()}
}
