package relayproc

import (
	"io"
	"strings"
	"sync"
	"time"
)

// outboxMax bounds the lines waiting for a reader that does not read.
const outboxMax = 1000

// outbox writes lines to w from a goroutine of its own, so that no caller ever
// waits for a reader. Lines with the same non-empty key replace each other
// while they wait; above outboxMax the oldest is dropped.
type outbox struct {
	mu      sync.Mutex
	queue   []keyed
	wake    chan struct{}
	closed  bool
	drained chan struct{}
}

type keyed struct{ key, line string }

func newOutbox(w io.Writer) *outbox {
	b := &outbox{wake: make(chan struct{}, 1), drained: make(chan struct{})}
	go b.run(w)
	return b
}

// put queues a line and never blocks.
func (b *outbox) put(key, line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if key != "" {
		b.drop(key)
	}
	if len(b.queue) >= outboxMax {
		b.queue = b.queue[1:]
	}
	b.queue = append(b.queue, keyed{key, line})
	b.signal()
}

func (b *outbox) drop(key string) {
	for i, k := range b.queue {
		if k.key == key {
			b.queue = append(b.queue[:i], b.queue[i+1:]...)
			return
		}
	}
}

func (b *outbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// flush refuses further lines and waits at most d for those queued.
func (b *outbox) flush(d time.Duration) {
	b.mu.Lock()
	b.closed = true
	b.signal()
	b.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-b.drained:
	case <-t.C:
	}
}

func (b *outbox) take() (lines string, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sb strings.Builder
	for _, k := range b.queue {
		sb.WriteString(k.line)
		sb.WriteByte('\n')
	}
	b.queue = nil
	return sb.String(), b.closed
}

func (b *outbox) run(w io.Writer) {
	defer close(b.drained)
	for range b.wake {
		lines, closed := b.take()
		if lines != "" {
			if _, err := io.WriteString(w, lines); err != nil {
				w = io.Discard // the reader is gone; keep draining
			}
		}
		if closed {
			return
		}
	}
}
