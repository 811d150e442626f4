package arbiter

import (
	"bytes"
	"slices"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// attempt is a record this run has asked the share to create, and whose outcome
// may still be open. Until a later record is acknowledged it counts as if it
// had succeeded and as if it had failed, whichever is worse.
type attempt struct {
	share  string
	tenure uint64 // number of the tenure it belongs to
	rec    lease.Record
	body   []byte
	begun  time.Duration // when its create began; earlier than the call itself
	op     OpID
	sent   bool
}

// on reports whether the attempt was sent for a rev of a chain.
func (a attempt) on(share string, rev uint64) bool {
	return a.sent && a.share == share && a.rec.Rev == rev
}

// attempts is what this run has asked the share to create: the attempts that
// still matter, at most one of them not sent yet, and how far it ever went.
type attempts struct {
	open  []attempt
	begun []begunRev
}

// begunRev is the highest rev of a chain that this run has begun a create of
// (rule 3).
type begunRev struct {
	share string
	rev   uint64
}

// attemptsKept bounds the open attempts of a candidate at one rev.
const attemptsKept = 8

// add notes an attempt that is to be sent. The pointer is good until the next
// call of a method that drops attempts or adds one.
func (s *attempts) add(a attempt) *attempt {
	s.open = append(s.open, a)
	return &s.open[len(s.open)-1]
}

// begin notes that the create of an attempt begins now, as the operation op.
func (s *attempts) begin(a *attempt, op OpID, now time.Duration) {
	a.op, a.begun, a.sent = op, now, true
	for i := range s.begun {
		if s.begun[i].share == a.share {
			s.begun[i].rev = max(s.begun[i].rev, a.rec.Rev)
			return
		}
	}
	s.begun = append(s.begun, begunRev{share: a.share, rev: a.rec.Rev})
}

// begunAbove reports whether a create above rev was ever begun, even one that is
// forgotten since.
func (s *attempts) begunAbove(share string, rev uint64) bool {
	for _, b := range s.begun {
		if b.share == share {
			return b.rev > rev
		}
	}
	return false
}

// unsent returns the attempt that waits for the guard, or nil.
func (s *attempts) unsent() *attempt {
	for i := range s.open {
		if !s.open[i].sent {
			return &s.open[i]
		}
	}
	return nil
}

// of returns the attempt that an operation belongs to.
func (s *attempts) of(op OpID) (attempt, bool) {
	for _, a := range s.open {
		if a.sent && a.op == op {
			return a, true
		}
	}
	return attempt{}, false
}

// tried reports whether a create of rev was begun that is not forgotten, other
// than the operation skip.
func (s *attempts) tried(share string, rev uint64, skip OpID) bool {
	for _, a := range s.open {
		if a.on(share, rev) && a.op != skip {
			return true
		}
	}
	return false
}

// adoptable returns the attempt of a tenure whose held body is, byte for byte,
// the one found (rule 1), dated from the first attempt at that rev.
func (s *attempts) adoptable(share string, e lease.Entry, tenure uint64) (attempt, bool) {
	var found attempt
	ok := false
	first := never
	op := OpID(0)
	for _, a := range s.open {
		if !a.on(share, e.Rev) || a.tenure != tenure {
			continue
		}
		if op == 0 {
			op = a.op
		}
		first = min(first, a.begun)
		if bytes.Equal(a.body, e.Body) && a.rec.State == lease.Held {
			found, ok = a, true
		}
	}
	found.begun, found.op = first, op
	return found, ok
}

// ours returns the attempt of a tenure whose body, held or released, is the one
// found.
func (s *attempts) ours(share string, e lease.Entry, tenure uint64) (attempt, bool) {
	for _, a := range s.open {
		if a.on(share, e.Rev) && a.tenure == tenure && bytes.Equal(a.body, e.Body) {
			return a, true
		}
	}
	return attempt{}, false
}

// thin keeps the first and the newest of the attempts at a rev, fewer than
// attemptsKept, and returns how many there were: an own record that is found
// later is known by its owner.
func (s *attempts) thin(share string, rev uint64) int {
	var at []int
	for i, a := range s.open {
		if a.on(share, rev) {
			at = append(at, i)
		}
	}
	if len(at) >= attemptsKept {
		s.open = slices.Delete(s.open, at[1], at[1]+1)
	}
	return len(at)
}

// dropBelow forgets attempts of a chain below floor, except the operation under
// way.
func (s *attempts) dropBelow(share string, floor uint64, underWay OpID) {
	s.drop(func(a attempt) bool {
		return a.share == share && a.rec.Rev < floor && (a.op != underWay || !a.sent)
	})
}

// dropOtherChains forgets attempts in chains other than share, except the
// operation under way.
func (s *attempts) dropOtherChains(share string, underWay OpID) {
	s.drop(func(a attempt) bool { return a.share != share && a.op != underWay })
}

// forget drops the attempt of an operation that is known not to have happened.
func (s *attempts) forget(op OpID) {
	s.drop(func(a attempt) bool { return a.sent && a.op == op })
}

// dropUnsent forgets an attempt that was never sent.
func (s *attempts) dropUnsent() {
	s.drop(func(a attempt) bool { return !a.sent })
}

func (s *attempts) drop(gone func(attempt) bool) { s.open = slices.DeleteFunc(s.open, gone) }
