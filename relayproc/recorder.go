package relayproc

import (
	"path/filepath"
	"sync"
	"time"
)

// recordPatience bounds the guard's wait for a write of its record at the very
// end, when the tree is dead already.
const recordPatience = 500 * time.Millisecond

// recorder keeps relay.json up to date from a goroutine of its own: a local
// disk that stalls must not keep the guard from its deadline. At most one write
// is under way, and only the newest tree waits behind it.
type recorder struct {
	write func(tree)
	due   chan struct{}
	ended chan struct{}

	mu   sync.Mutex
	tree tree
}

func newRecorder(write func(tree)) *recorder {
	r := &recorder{write: write, due: make(chan struct{}, 1), ended: make(chan struct{})}
	go r.run()
	return r
}

func (r *recorder) run() {
	defer close(r.ended)
	for range r.due {
		r.mu.Lock()
		t := r.tree
		r.mu.Unlock()
		r.write(t)
	}
}

// note has what lives of t written down soon. It never waits.
func (r *recorder) note(t tree) {
	r.mu.Lock()
	r.tree = t
	r.mu.Unlock()
	select {
	case r.due <- struct{}{}:
	default: // a write that has not begun will see this too
	}
}

// finish takes no more notes and reports whether, within recordPatience, none
// is being written any more.
func (r *recorder) finish() bool {
	close(r.due)
	t := time.NewTimer(recordPatience)
	defer t.Stop()
	select {
	case <-r.ended:
		return true
	case <-t.C:
		return false
	}
}

// record notes in STATE_DIR what lives, for a later run that finds it orphaned.
func (g *guard) record() {
	if g.tree == nil || g.lock == nil {
		return
	}
	if g.recorder == nil {
		dir, exe := filepath.Dir(g.spec.LockPath), g.spec.Exe
		g.recorder = newRecorder(func(t tree) { writeRecord(dir, exe, t.members()) })
	}
	g.recorder.note(g.tree)
}

// unrecord takes the record of a dead tree away. While one is still being
// written that is left to the next run, which finds nobody it names.
func (g *guard) unrecord() {
	if g.recorder == nil || g.recorder.finish() {
		removeRecord(filepath.Dir(g.spec.LockPath))
	}
	g.recorder = nil
}
