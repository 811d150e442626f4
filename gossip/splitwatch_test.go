package gossip

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// splitWatch checks all the time that the members that run see each other.
type splitWatch struct {
	t     *testing.T
	mu    sync.Mutex
	nodes map[int]*node
	done  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup
}

func watchForSplits(t *testing.T, nodes []*node) *splitWatch {
	w := &splitWatch{t: t, nodes: map[int]*node{}, done: make(chan struct{})}
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
	for _, n := range w.nodes {
		up := n.IDs()
		for _, m := range w.nodes {
			if m != n && !slices.Contains(up, m.cfg.Self) {
				w.t.Errorf("%s does not see %s", n.cfg.Meta.Station, m.cfg.Meta.Station)
			}
		}
	}
}

func (w *splitWatch) skip(i int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.nodes, i)
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
