package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// This file holds what people and PCs do to a site beyond plain faults: tokens
// that differ, wall clocks that jump, priorities, offline copies of the folder.

// cutKeys makes the vaults: one per token in use, and one that opens all.
func (w *World) cutKeys() {
	now := func() time.Duration { return w.now }
	w.vault = newVault(now, tokens[0], tokens[1:]...)
	w.keys = []*vault{w.vault}
	if w.opt.Tokens > 1 {
		w.keys = []*vault{newVault(now, tokens[0]), newVault(now, tokens[1])}
	}
	if w.opt.Rotation {
		w.cutRotationKeys(func(token string, more ...string) *vault { return newVault(now, token, more...) })
	}
}

// giveRightToken restarts a daemon whose token is not the site's.
func (w *World) giveRightToken(h *host) {
	if w.opt.Rotation {
		return // any step of a rotation is one that a site may stay at
	}
	h.token = 0
	if h.daemon != nil && h.daemon.keys != w.keys[0] {
		w.crashDaemon(h, "restarts with the right token")
	}
}

// preempts reports whether a node has RELAY_PREEMPT set.
func (o Options) unfit(i int) bool { return i < len(o.Unfit) && o.Unfit[i] }

func (o Options) preempts(i int) bool { return i < len(o.Claims) && o.Claims[i] }

// sealer seals on one host: LeaseUntil comes from that host's wall clock.
type sealer struct{ d *daemon }

// Seal implements arbiter.Sealer.
func (s sealer) Seal(r lease.Record) ([]byte, error) {
	keys := s.d.signer()
	keys.wall = s.d.host.wall()
	return keys.Seal(r)
}

// wall is how wrong a host's wall clock is right now: in another zone, and set
// to something else every minute by up to half a year.
func (h *host) wall() time.Duration {
	if !h.w.opt.Walls {
		return 0
	}
	minute := uint64(h.w.now / time.Minute)
	jump := (minute*2_654_435_761 + uint64(h.idx)*40_503) % 4380
	return time.Duration(h.idx%25-12)*time.Hour - time.Duration(jump)*time.Hour
}

// disk is what answers behind a host's LEASE_DIR.
func (h *host) disk() *share {
	if h.copy != nil {
		return h.copy
	}
	return h.share
}

// goOffline lets a PC's Offline Files cache answer for a while: a copy as of now
// that nobody else sees. When the server is back, what was created in the copy is
// carried over, name by name, as far as the names are free.
func (w *World) goOffline(h *host, d time.Duration) {
	if h.copy != nil {
		return
	}
	h.copy = h.share.fork(w.now)
	w.untilHealed(d, func() {
		h.copy, h.cache = nil, listing{}
		up := h.sync
		h.sync = nil
		for _, do := range up {
			do()
		}
	})
}

// moveFolder puts another, empty folder behind a PC's LEASE_DIR for a while,
// such as another disk under the same letter; one PC at a time, for what is left
// is to be the site's.
func (w *World) moveFolder(h *host, d time.Duration) {
	if w.moved {
		return
	}
	home := h.share
	w.moved, h.share, h.cache = true, &share{}, listing{}
	w.untilHealed(d, func() { w.moved, h.share, h.cache = false, home, listing{} })
}

// fork copies a folder as it is.
func (s *share) fork(now time.Duration) *share {
	c := &share{view: s.view}
	if s.chain == nil {
		return c
	}
	c.chain = &chain{id: s.chain.id, live: map[uint64]*file{}}
	for _, rev := range s.list(now).revs {
		c.chain.add(rev, s.chain.live[rev].body, now)
	}
	return c
}

// answerOffline is the Offline Files cache: it answers everything. The backend
// asks it where an answer came from and takes what changes the folder, and
// listings, for unavailable.
func (w *World) answerOffline(c *call) {
	if a, ok := c.act.(arbiter.Create); ok {
		w.createOffline(c, a)
		return
	}
	r := w.carryOut(c)
	_, lists := c.act.(arbiter.List)
	if c.changes() || lists && w.opt.Defect != OfflineLists && w.opt.Defect != OfflineWins {
		r = result{outcome: arbiter.Unavailable}
	}
	w.answer(c, r)
}

// createOffline creates in the copy. The backend removes what it notices, but
// the cache may carry it to the server all the same.
func (w *World) createOffline(c *call, a arbiter.Create) {
	f, out := c.host.copy.create(a.Share, a.Rev, w.now)
	if out != arbiter.OK {
		w.answer(c, result{outcome: out})
		return
	}
	f.body = a.Body
	if w.dice.chance(0.5) {
		c.host.sync = append(c.host.sync, func() {
			if f, out := c.host.share.create(a.Share, a.Rev, w.now); out == arbiter.OK {
				w.write(c, a, f)
			}
		})
	}
	if w.opt.Defect == OfflineWins {
		w.checker.written(a, c.attempt)
		w.answer(c, result{outcome: arbiter.OK})
		return
	}
	delete(c.host.copy.chain.live, a.Rev)
	f.gone = w.now
	w.answer(c, result{outcome: arbiter.Unavailable})
}
