package gossip

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// splitWatch checks all the time that the members that run see each other. One that
// was taken for dead for a moment must answer a question before it counts again, so
// that a gap counts once it has lasted for several checks.
type splitWatch struct {
	missed map[[2]int]int // checks in a row in which one did not see the other
	t      *testing.T
	mu     sync.Mutex
	nodes  map[int]*node
	done   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
}

// gapChecks are so many checks, 50 ms apart.
const gapChecks = 4

func watchForSplits(t *testing.T, nodes []*node) *splitWatch {
	w := &splitWatch{t: t, missed: map[[2]int]int{}, nodes: map[int]*node{}, done: make(chan struct{})}
	for i, n := range nodes {
		w.nodes[i] = n
	}
	w.wg.Go(func() {
		for {
			select {
			case <-w.done:
				return
			case <-time.After(50 * time.Millisecond):
				w.check()
			}
		}
	})
	return w
}

func (w *splitWatch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, n := range w.nodes {
		up := n.IDs()
		for j, m := range w.nodes {
			pair := [2]int{i, j}
			if m == n || slices.Contains(up, m.cfg.Self) {
				delete(w.missed, pair)
				continue
			}
			if w.missed[pair]++; w.missed[pair] == gapChecks {
				w.t.Errorf("%s does not see %s", n.cfg.Meta.Station, m.cfg.Meta.Station)
			}
		}
	}
}

func (w *splitWatch) skip(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.nodes, i)
	clear(w.missed)
}

func (w *splitWatch) resume(i int, n *node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodes[i] = n
}

func (w *splitWatch) stop() {
	w.once.Do(func() { close(w.done) })
	w.wg.Wait()
}
