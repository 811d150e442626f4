package metrics

import (
	"sync"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// tenure is what was counted of this member's leading.
type tenure struct {
	mu      sync.Mutex
	leading bool
	epoch   uint64
}

// Status is shown every changed status, in order. The head of the first one of
// a tenure is the record that won it, whose reason says what allowed it.
func (m *Metrics) Status(s arbiter.Status) {
	t := &m.tenure
	t.mu.Lock()
	defer t.mu.Unlock()
	leads := s.Role == arbiter.Leader
	if t.leading && (!leads || s.Epoch != t.epoch) {
		m.ends.WithLabelValues(ended(s)).Inc()
	}
	if leads && (!t.leading || s.Epoch != t.epoch) {
		m.takeovers.WithLabelValues(s.Head.Record.Reason).Inc()
	}
	t.leading, t.epoch = leads, s.Epoch
}

// ended tells a tenure given back, whose release is the head then, from one
// that was lost or ran out.
func ended(s arbiter.Status) string {
	if s.Head.Kind == lease.Valid && s.Head.Record.State == lease.Released {
		return "released"
	}
	return "lost"
}
