package gossip

import (
	"bytes"
	"slices"
	"sync"

	"github.com/convertfw/floatrelay/lease"
)

// silentMost is how many beats in a row may be unanswered before the next one
// is sent in full again: an answer or two is lost now and then.
const silentMost = 2

// beats is the leader's side of brief beats. A beat carries the whole record, so
// that nobody has to read a dead PC's file; but a member that has answered a
// beat of this very record has it, and needs to be told only which it is.
//
// Nothing here is needed for beats to arrive: a member that cannot make the
// full beat of a brief one asks for it, and one that does not answer at all is
// sent full ones.
type beats struct {
	mu          sync.Mutex
	body        []byte
	sum         digest
	first, last uint64 // the beats that carried body
	followers   map[lease.ID]*follower
}

// follower is a member that is beaten, by node and run: a new run has nothing.
type follower struct {
	has    bool   // it has answered a beat of the record
	silent uint64 // beats since the newest one that it has answered
	again  uint64 // the beat it was sent a second time, because it asked
}

// next notes a beat and says who is sent it in full and who brief. reads
// reports whether a member understands brief ones.
func (b *beats) next(to []lease.ID, num uint64, body []byte, reads func(lease.ID) bool) (full, brief []lease.ID, sum digest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.followers
	if num < b.last || !bytes.Equal(b.body, body) {
		b.body, b.sum, b.first = slices.Clone(body), digestOf(body), num
		old = nil
	}
	b.last = num
	b.followers = make(map[lease.ID]*follower, len(to))
	for _, id := range to {
		f := old[id]
		if f == nil {
			f = &follower{}
		}
		b.followers[id] = f
		if f.has && f.silent < silentMost && reads(id) {
			brief = append(brief, id)
		} else {
			full = append(full, id)
		}
		f.silent++
	}
	return full, brief, b.sum
}

// answered notes a vouch for beat num of this run.
func (b *beats) answered(from lease.ID, num uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.followers[from]; f != nil && b.carried(num) {
		f.has, f.silent = true, min(f.silent, b.last-num)
	}
}

// asked notes that a member could not make beat num of this run, and returns
// the record to send it with. Only the newest beat is sent again, once: whatever
// replays an ask gains nothing by it.
func (b *beats) asked(from lease.ID, num uint64) (body []byte, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.followers[from]
	if f == nil || !b.carried(num) {
		return nil, false
	}
	f.has = false
	if num != b.last || f.again == num {
		return nil, false
	}
	f.again = num
	return b.body, true
}

// carried reports whether beat num was one of the record. The lock is held.
func (b *beats) carried(num uint64) bool { return num >= b.first && num <= b.last }
