package simnet

import (
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"time"
)

// Detail says how much of a run is written down.
type Detail uint8

// The levels of detail.
const (
	// Silent writes nothing: the search runs this way and repeats a failing
	// seed with Full.
	Silent Detail = iota
	// Story is what a person would tell afterwards: faults, records that
	// change the lease, relays that start and end. Golden traces use it.
	Story
	// Full is every event and every action.
	Full
)

// tracer writes the lines of a run, and keeps their hash and the last of them.
// Nothing in a world may depend on whether it is traced.
type tracer struct {
	level Detail
	out   io.Writer
	lines int
	hash  uint64
	last  []string
}

// lastLines is how many lines a failure shows.
const lastLines = 120

func (w *World) story(format string, args ...any) {
	if w.trace.level >= Story {
		w.trace.line(w.now, format, args)
	}
}

func (w *World) detail(format string, args ...any) {
	if w.trace.level >= Full {
		w.trace.line(w.now, format, args)
	}
}

// tracing reports whether detail lines are wanted; it spares hot paths the
// cost of their arguments.
func (w *World) tracing() bool { return w.trace.level >= Full }

func (t *tracer) line(now time.Duration, format string, args []any) {
	s := fmt.Sprintf("%11.6f  %s\n", now.Seconds(), fmt.Sprintf(format, args...))
	h := fnv.New64a()
	fmt.Fprintf(h, "%016x", t.hash)
	_, _ = h.Write([]byte(s))
	t.hash = h.Sum64()
	t.lines++
	if t.out != nil {
		_, _ = io.WriteString(t.out, s)
	}
	t.last = append(t.last, s)
	if len(t.last) > 2*lastLines {
		t.last = append(t.last[:0], t.last[lastLines:]...)
	}
}

// tail returns the last lines of the run.
func (t *tracer) tail() string {
	return strings.Join(t.last[max(0, len(t.last)-lastLines):], "")
}
