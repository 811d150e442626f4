package bubble

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// life is the life of one relay tree, from the moment it exists to the moment
// nothing of it does.
type life struct {
	owner      lease.ID
	station    string
	epoch      uint64
	start, end time.Time // end zero: it lives
}

// watch knows which relays live. It is told by the relays themselves, never by
// a machine.
type watch struct {
	mu     sync.Mutex
	lives  []*life
	alive  map[*life]bool
	owners map[uint64]lease.ID // whose relay ran under an epoch
	epoch  uint64
	wrong  []string
	lines  []string
	began  time.Time
}

func newWatch() *watch {
	return &watch{alive: map[*life]bool{}, owners: map[uint64]lease.ID{}, began: time.Now()}
}

// note adds a line to the story that is printed if the test fails.
func (w *watch) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.line(format, args...)
}

func (w *watch) line(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf("%10.3f  ", time.Since(w.began).Seconds())+fmt.Sprintf(format, args...))
}

func (w *watch) fault(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
	w.line("WRONG: "+format, args...)
}

// started is called before anything of a relay exists.
func (w *watch) started(n *node, epoch uint64) *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := &life{owner: n.id, station: n.station(), epoch: epoch, start: time.Now()}
	w.line("%s: relay lives, epoch %d", l.station, epoch)
	for o := range w.alive {
		w.fault("relays of %s (epoch %d) and %s (epoch %d) at once", o.station, o.epoch, l.station, epoch)
	}
	switch owner, known := w.owners[epoch]; {
	case known && owner != n.id:
		w.fault("epoch %d was another member's and is now %s's", epoch, l.station)
	case epoch < w.epoch:
		w.fault("epoch %d after %d", epoch, w.epoch)
	}
	w.owners[epoch], w.epoch = n.id, max(w.epoch, epoch)
	w.lives, w.alive[l] = append(w.lives, l), true
	return l
}

// ended is called once nothing of a relay exists any more.
func (w *watch) ended(l *life, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alive[l] {
		delete(w.alive, l)
		l.end = time.Now()
		w.line("%s: relay dead (%s)", l.station, why)
	}
}

// running returns the relays that live.
func (w *watch) running() (out []*life) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for l := range w.alive {
		out = append(out, l)
	}
	return out
}

// count is how many relays were ever started.
func (w *watch) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.lives)
}

// last is the newest life as it stands.
func (w *watch) last() life {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.lives) == 0 {
		return life{}
	}
	return *w.lives[len(w.lives)-1]
}

// sample is the monitor beside the events: it counts the living, and looks for
// two members that believe they lead in one epoch, until stop is closed.
func (w *watch) sample(every time.Duration, nodes func() []*node, stop <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		leaders := map[uint64]string{}
		for _, n := range nodes() {
			s := n.status()
			if s.Role != arbiter.Leader {
				continue
			}
			if other, twice := leaders[s.Epoch]; twice {
				w.mu.Lock()
				w.fault("%s and %s both lead in epoch %d", other, n.station(), s.Epoch)
				w.mu.Unlock()
			}
			leaders[s.Epoch] = n.station()
		}
		w.mu.Lock()
		if len(w.alive) > 1 {
			w.fault("%d relays live", len(w.alive))
		}
		w.mu.Unlock()
	}
}

// verdict fails the test if anything was wrong, and tells the story.
func (w *watch) verdict(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.Failed() || len(w.wrong) > 0 || *story {
		t.Log("what happened, in seconds:\n" + strings.Join(w.lines, "\n"))
	}
	require.Empty(t, w.wrong)
}

// readChain checks what was really created: within a chain an epoch has one
// owner, and neither epoch nor owner goes back to an earlier one.
func (w *watch) readChain(s *server, codec *lease.Codec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	top := map[string]lease.Record{}
	owners := map[string]lease.ID{}
	for _, m := range s.created {
		e := codec.Open("", 0, m.body)
		if !strings.HasSuffix(m.name, ".lock") || e.Kind != lease.Valid {
			continue
		}
		r, last := e.Record, top[e.Record.Share]
		if r.Rev > last.Rev && r.Epoch < last.Epoch {
			w.fault("record %d has epoch %d, but %d already has %d", r.Rev, r.Epoch, last.Rev, last.Epoch)
		}
		key := fmt.Sprint(r.Share, r.Epoch)
		if o, known := owners[key]; known && o != r.Owner && r.State == lease.Held {
			w.fault("record %d gives epoch %d to %s, it was another member's", r.Rev, r.Epoch, r.Station)
		}
		if r.State == lease.Held {
			owners[key] = r.Owner
		}
		if r.Rev > last.Rev {
			top[r.Share] = r
		}
	}
}
