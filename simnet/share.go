package simnet

import (
	"slices"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// share is the file server: what is really there, decided in one place. Only
// exclusive creation is reliable on it, as on SMB; what clients see of it may be
// late, stale or lost, and that is the business of call.
type share struct {
	chain        *chain // nil while LEASE_DIR holds none
	old          []*chain
	view         lease.Record // relay_leader.json
	stalledUntil time.Duration
	wiped        time.Duration // when it was last emptied
	founded      time.Duration // when a member last founded a chain in it
}

// chain is one relay_leader.d/<share id>.
type chain struct {
	id    string
	files []*file          // every file that ever was, in order of creation
	live  map[uint64]*file // by rev, those that are there now
}

// file is one record. A file that was created but whose body is not written
// yet, or never will be, is empty.
type file struct {
	rev        uint64
	body       []byte
	made, gone time.Duration // gone 0: still there
}

// create is the exclusive create: the one operation everything rests on.
func (s *share) create(id string, rev uint64, now time.Duration) (*file, arbiter.Outcome) {
	if s.chain == nil || s.chain.id != id {
		return nil, arbiter.NotExist
	}
	if s.chain.live[rev] != nil {
		return nil, arbiter.Exists
	}
	return s.chain.add(rev, nil, now), arbiter.OK
}

func (c *chain) add(rev uint64, body []byte, now time.Duration) *file {
	f := &file{rev: rev, body: body, made: now}
	c.files = append(c.files, f)
	c.live[rev] = f
	return f
}

// found moves a complete new chain into place.
func (s *share) found(id string, rev uint64, genesis []byte, now time.Duration) arbiter.Outcome {
	if s.chain != nil {
		return arbiter.Exists
	}
	s.chain, s.founded = &chain{id: id, live: map[uint64]*file{}}, now
	s.chain.add(rev, genesis, now)
	return arbiter.OK
}

// list returns what a directory listing taken at an instant shows.
func (s *share) list(at time.Duration) listing {
	if s.chain == nil {
		return listing{taken: at, known: true}
	}
	l := listing{taken: at, share: s.chain.id, known: true}
	for _, f := range s.chain.files {
		if f.made <= at && (f.gone == 0 || f.gone > at) {
			l.revs = append(l.revs, f.rev)
		}
	}
	slices.Sort(l.revs)
	return l
}

// listing is a directory listing as a client may keep it.
type listing struct {
	known bool
	taken time.Duration
	share string
	revs  []uint64
}

// read returns the file of a rev, or nil.
func (s *share) read(id string, rev uint64) *file {
	if s.chain == nil || s.chain.id != id {
		return nil
	}
	return s.chain.live[rev]
}

// remove deletes records.
func (s *share) remove(id string, revs []uint64, now time.Duration) arbiter.Outcome {
	if s.chain == nil || s.chain.id != id {
		return arbiter.NotExist
	}
	for _, rev := range revs {
		if f := s.chain.live[rev]; f != nil {
			f.gone = now
			delete(s.chain.live, rev)
		}
	}
	return arbiter.OK
}

// wipe deletes everything in LEASE_DIR, the view included.
func (s *share) wipe(now time.Duration) {
	if s.chain != nil {
		s.old = append(s.old, s.chain)
	}
	s.chain, s.view, s.wiped = nil, lease.Record{}, now
}

// restore puts the folder back to what it was at an earlier instant.
func (s *share) restore(at time.Duration) {
	if s.chain == nil || at <= 0 {
		return
	}
	was := &chain{id: s.chain.id, live: map[uint64]*file{}}
	for _, f := range s.chain.files {
		if f.made <= at && (f.gone == 0 || f.gone > at) {
			was.live[f.rev] = &file{rev: f.rev, body: f.body, made: f.made}
			was.files = append(was.files, was.live[f.rev])
		}
	}
	s.old = append(s.old, s.chain)
	s.chain = was
}

// past puts into a share what an earlier life of the site left there.
func (w *World) past(s *share) {
	if w.opt.Chain == NoChain {
		return
	}
	r := lease.Record{
		Share: w.dice.uuid(), KMSN: kmsn, Station: "OLD", Rev: 40, Epoch: 7, Owner: lease.ID{Node: w.dice.uuid(), Run: w.dice.runID()},
		Boot: "boot-old", State: lease.Released, Reason: "stop", IP: "192.168.1.9", Port: 9530, TTL: w.opt.Figures.TTL, Fence: w.opt.Figures.Fence,
	}
	if w.opt.Chain == Held {
		r.State = lease.Held
	}
	body, err := w.vault.Seal(r)
	if err != nil {
		w.fail("past", "%v", err)
		return
	}
	s.found(r.Share, r.Rev, body, 0)
	s.view = r
	if w.opt.Chain == Damaged {
		s.chain.add(r.Rev+1, body[:len(body)/2], 0)
	}
}
