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
	queue   []entry
	bytes   int  // in queue
	busy    bool // an entry is being written
	failing bool // the sink refused the last one
	closed  bool
	missing uint64 // dropped behind the queue's end and not yet told
	dropped uint64 // dropped in all
	wake    chan struct{}
	idle    chan struct{} // closed and replaced whenever the queue runs empty
	done    chan struct{}
}

// entry is a line and how many were lost right before it.
type entry struct {
	line []byte // nil if there is only a loss to tell
	lost uint64
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
		a.missing++
		a.dropped++
		return len(p), nil
	}
	a.queue = append(a.queue, entry{line, a.missing})
	a.missing = 0
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
	idle := a.idle
	empty := len(a.queue) == 0 && !a.busy && (a.missing == 0 || a.failing)
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
		e, ok := a.next()
		if ok {
			a.write(e)
			continue
		}
		select {
		case <-a.wake:
		case <-a.done:
			return
		}
	}
}

// next takes the oldest entry. While there is none it tells those who wait for
// that, once a loss at the end has been told, too. A sink that refuses is tried
// again with the next line only.
func (a *Async) next() (entry, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) > 0 {
		e := a.queue[0]
		a.queue[0] = entry{}
		a.queue = a.queue[1:]
		a.bytes -= len(e.line)
		a.busy = true
		return e, true
	}
	if a.missing > 0 && !a.failing {
		e := entry{lost: a.missing}
		a.missing = 0
		a.busy = true
		return e, true
	}
	a.busy = false
	a.queue = nil // let go of the array a burst has grown
	close(a.idle)
	a.idle = make(chan struct{})
	return entry{}, false
}

// write may block for as long as the sink does.
func (a *Async) write(e entry) {
	out := e.line
	if e.lost > 0 {
		out = append(fmt.Appendf(nil, "(%d lines lost: the log could not be written fast enough)\n", e.lost), e.line...)
	}
	_, err := a.sink.Write(out)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failing = err != nil
	if err == nil {
		return
	}
	lost := e.lost
	if e.line != nil {
		lost++
		a.dropped++
	}
	if len(a.queue) > 0 {
		a.queue[0].lost += lost
	} else {
		a.missing += lost
	}
}
