package gossip

import (
	"sort"
	"sync"
	"time"
)

const (
	// maxStrangers bounds how many addresses are remembered.
	maxStrangers = 64
	// strangerAge is how long one is shown after its last packet.
	strangerAge = 10 * time.Minute
)

// StrangerKind says what is wrong with somebody's packets.
type StrangerKind uint8

// The kinds.
const (
	WrongToken StrangerKind = iota // same KMSN, another RELAY_TOKEN
	OtherSite                      // another KMSN, or no member at all
)

// Code returns the kind's stable name.
func (k StrangerKind) Code() string {
	return [...]string{"token-differs", "other-site"}[k]
}

// String returns the kind for people.
func (k StrangerKind) String() string {
	return [...]string{"token differs", "another site"}[k]
}

// Stranger is somebody whose packets or answers are not for us.
type Stranger struct {
	Addr  string // IP address
	Kind  StrangerKind
	Count uint64
	Last  time.Time // wall time
}

// strangers counts them by address.
type strangers struct {
	changed func() // a new one
	mu      sync.Mutex
	by      map[string]*Stranger
}

func newStrangers(changed func()) *strangers {
	return &strangers{changed: changed, by: map[string]*Stranger{}}
}

// note counts one and returns how many there were.
func (s *strangers) note(addr string, k StrangerKind) uint64 {
	s.mu.Lock()
	e := s.by[addr]
	fresh := e == nil || e.Kind != k
	if e == nil {
		s.makeRoom()
		e = &Stranger{Addr: addr}
		s.by[addr] = e
	}
	e.Kind, e.Last = k, time.Now()
	e.Count++
	n := e.Count
	s.mu.Unlock()
	if fresh {
		s.changed()
	}
	return n
}

// joined forgets an address: a member is there now. A PC whose token was just
// put right was a stranger a moment ago.
func (s *strangers) joined(addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, addr)
}

// makeRoom drops the one not heard of for longest.
func (s *strangers) makeRoom() {
	if len(s.by) < maxStrangers {
		return
	}
	var oldest *Stranger
	for _, e := range s.by {
		if oldest == nil || e.Last.Before(oldest.Last) {
			oldest = e
		}
	}
	delete(s.by, oldest.Addr)
}

// Strangers returns who sent, in the last ten minutes, what cannot be decrypted
// or belongs to another KMSN, the latest first. A connection that ends without an answer looks like another
// site, so that kind is shown from the third time on. The handler hears of a new one through Members.
func (g *Gossip) Strangers() []Stranger {
	s := g.strange
	s.mu.Lock()
	out := make([]Stranger, 0, len(s.by))
	for _, e := range s.by {
		if time.Since(e.Last) < strangerAge && (e.Kind != OtherSite || e.Count >= foreignTries) {
			out = append(out, *e)
		}
	}
	s.mu.Unlock()
	sort.Slice(out, func(i, j int) bool { return out[i].Last.After(out[j].Last) })
	return out
}
