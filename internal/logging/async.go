package logging

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Bounds of one sink's queue.
const (
	queueLines = 1024
	queueBytes = 1 << 20
)

// Async is an io.Writer that never blocks: each Write is one line, copied into
// a bounded queue and written by a goroutine. It also serves as zap's
// WriteSyncer.
type Async struct {
	sink io.Writer

	mu      sync.Mutex
	queue   [][]byte
	bytes   int  // in queue
	busy    bool // a line is being written
	closed  bool
	missing uint64 // dropped and not yet told
	dropped uint64 // dropped in all
	wake    chan struct{}
	idle    chan struct{} // closed and replaced whenever the queue runs empty
	done    chan struct{}
}

// NewAsync starts the goroutine that writes to sink. Close ends it.
func NewAsync(sink io.Writer) *Async {
	a := &Async{
		sink: sink,
		wake: make(chan struct{}, 1),
		idle: make(chan struct{}),
		done: make(chan struct{}),
	}
	go a.run()
	return a
}

// Write queues one line. It reports success even if the line is dropped: the
// caller could do nothing about it.
func (a *Async) Write(p []byte) (int, error) {
	line := cleanLine(p)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(a.queue) >= queueLines || a.bytes+len(line) > queueBytes {
		a.drop(1)
		return len(p), nil
	}
	a.queue = append(a.queue, line)
	a.bytes += len(line)
	select {
	case a.wake <- struct{}{}:
	default:
	}
	return len(p), nil
}

// Dropped returns how many lines were lost so far, because the queue was full
// or the sink refused them.
func (a *Async) Dropped() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dropped
}

// Sync does nothing: zap calls it from the goroutine that logs.
func (a *Async) Sync() error { return nil }

// Flush waits until the queue is written, at most for patience. It reports
// whether it is.
func (a *Async) Flush(patience time.Duration) bool {
	a.mu.Lock()
	idle, empty := a.idle, len(a.queue) == 0 && !a.busy
	a.mu.Unlock()
	if empty {
		return true
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-idle:
		return true
	case <-timer.C:
		return false
	}
}

// Close flushes for at most patience and takes no further lines. It reports
// whether everything queued was written.
func (a *Async) Close(patience time.Duration) bool {
	flushed := a.Flush(patience)
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		close(a.done)
	}
	a.mu.Unlock()
	return flushed
}

func (a *Async) run() {
	for {
		line, missing := a.next()
		if line == nil {
			select {
			case <-a.wake:
				continue
			case <-a.done:
				return
			}
		}
		a.write(line, missing)
	}
}

// next takes the oldest line, and the number of lines lost meanwhile. While
// there is none it tells those who wait for that.
func (a *Async) next() ([]byte, uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	if len(a.queue) == 0 {
		close(a.idle)
		a.idle = make(chan struct{})
		a.queue = nil // let go of the array a burst has grown
		return nil, 0
	}
	line := a.queue[0]
	a.queue[0] = nil
	a.queue = a.queue[1:]
	a.bytes -= len(line)
	a.busy = true
	missing := a.missing
	a.missing = 0
	return line, missing
}

// write may block for as long as the sink does.
func (a *Async) write(line []byte, missing uint64) {
	if missing > 0 {
		line = append(fmt.Appendf(nil, "(%d lines lost: the log could not be written fast enough)\n", missing), line...)
	}
	if _, err := a.sink.Write(line); err != nil {
		a.mu.Lock()
		a.drop(1)
		a.missing += missing
		a.mu.Unlock()
	}
}

// drop counts a lost line; a.mu is held.
func (a *Async) drop(n uint64) {
	a.missing += n
	a.dropped += n
}
