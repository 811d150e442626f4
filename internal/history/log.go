package history

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// Log is the history of a running daemon. Add never blocks and never fails;
// Run writes the file. All methods are safe for concurrent use.
type Log struct {
	path string
	kick chan struct{}

	mu     sync.Mutex
	events []localapi.Past // newest last, at most Limit
	unsent []localapi.Past // not in the file yet, at most Limit
	lines  int             // in the file
}

// Open reads the history in STATE_DIR. The Log is usable, and empty, also when
// that fails.
func Open(stateDir string) (*Log, error) {
	l := &Log{path: filepath.Join(stateDir, FileName), kick: make(chan struct{}, 1)}
	var err error
	l.events, l.lines, err = read(l.path)
	return l, err
}

// Add remembers an event.
func (l *Log) Add(p localapi.Past) {
	l.mu.Lock()
	l.events = newest(append(l.events, p))
	l.unsent = newest(append(l.unsent, p))
	l.mu.Unlock()
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// Events returns what is remembered, oldest first.
func (l *Log) Events() []localapi.Past {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// Run keeps the file until ctx ends, then writes what is left. failed is told
// when writing fails and, with nil, when it works again.
func (l *Log) Run(ctx context.Context, failed func(error)) {
	bad := false
	for {
		select {
		case <-ctx.Done():
			_ = l.Flush()
			return
		case <-l.kick:
		}
		if err := l.Flush(); (err != nil) != bad {
			bad = err != nil
			failed(err)
		}
	}
}

// Flush writes what is not in the file yet. What cannot be written is tried
// again with the next event.
func (l *Log) Flush() error {
	l.mu.Lock()
	fresh, all, lines := l.unsent, slices.Clone(l.events), l.lines
	l.unsent = nil
	l.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	lines += len(fresh)
	err := error(nil)
	if lines >= 2*Limit {
		lines, err = shorten(l.path, fresh, all)
	} else {
		err = add(l.path, fresh)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.unsent = newest(append(fresh, l.unsent...))
		return err
	}
	l.lines = lines
	return nil
}
