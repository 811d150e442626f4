package forward

import "sync/atomic"

// counters are what a Forwarder counts.
type counters struct {
	all, open, held, fallback    atomic.Int64
	accepted, full, late, gaveUp atomic.Uint64
	up, down                     atomic.Uint64
}

// Stats are the figures of a Forwarder.
type Stats struct {
	// To says where the relay is; it is empty while nobody leads.
	To string
	// Problem says why a port is not served, or is empty.
	Problem string

	Open     int64 // connections to the site's relay now
	Held     int64 // programs that wait for one now
	Fallback int64 // connections to the fallback now

	Accepted uint64 // programs that connected
	Full     uint64 // of them refused, because there were too many
	Late     uint64 // of them refused, because no relay was reached in time
	GaveUp   uint64 // of them gone before one was reached
	Up, Down uint64 // bytes from and to programs
}

// Stats returns the figures of this moment. Bytes lag behind by seconds.
func (f *Forwarder) Stats() Stats {
	c := &f.count
	s := Stats{
		Open: c.open.Load(), Held: c.held.Load(), Fallback: c.fallback.Load(),
		Accepted: c.accepted.Load(), Full: c.full.Load(), Late: c.late.Load(), GaveUp: c.gaveUp.Load(),
		Up: c.up.Load(), Down: c.down.Load(),
	}
	if v := f.now.Load(); !v.None() {
		s.To = v.String()
	}
	for _, l := range f.lanes {
		if p := l.problem.Load(); p != nil && s.Problem == "" {
			s.Problem = *p
		}
	}
	return s
}

// enter counts a connection in, unless there are limit already.
func (c *counters) enter(limit int64) bool {
	if c.all.Add(1) > limit {
		c.all.Add(-1)
		return false
	}
	return true
}

func (c *counters) leave() { c.all.Add(-1) }
