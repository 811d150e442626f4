package localapi

import (
	"fmt"
	"sync"
	"time"
)

// hubBuffer is how many events a watcher may lag behind before it misses some.
const hubBuffer = 64

// Hub hands events to watchers. Publish never blocks: a watcher that lags
// misses events and is told how many. The zero Hub is ready for use.
type Hub struct {
	mu     sync.Mutex
	subs   map[*subscriber]struct{}
	closed bool
}

type subscriber struct {
	ch     chan Event
	missed int
}

// Publish hands ev to every watcher. An event without a time gets the present.
func (h *Hub) Publish(ev Event) {
	if ev.Time.IsZero() {
		ev.Time = time.Now()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		s.offer(ev)
	}
}

// offer keeps one place of the buffer for the line that says what was missed.
func (s *subscriber) offer(ev Event) {
	room := cap(s.ch) - len(s.ch)
	if s.missed > 0 && room >= 2 {
		s.ch <- Event{
			Time: ev.Time, Kind: "missed", Warn: true,
			Text: fmt.Sprintf("%d events missed: this watcher was too slow", s.missed),
		}
		s.missed, room = 0, room-1
	}
	if s.missed > 0 || room == 0 {
		s.missed++
		return
	}
	s.ch <- ev
}

// Subscribe returns a channel of events from now on and a function that ends
// it, which may be called more than once. The channel is closed then, or by
// Close.
func (h *Hub) Subscribe() (<-chan Event, func()) {
	s := &subscriber{ch: make(chan Event, hubBuffer)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(s.ch)
		return s.ch, func() {}
	}
	if h.subs == nil {
		h.subs = make(map[*subscriber]struct{})
	}
	h.subs[s] = struct{}{}
	return s.ch, func() { h.drop(s) }
}

func (h *Hub) drop(s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.subs[s]; ok {
		delete(h.subs, s)
		close(s.ch)
	}
}

// Close ends every watcher, now and later.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		delete(h.subs, s)
		close(s.ch)
	}
}
