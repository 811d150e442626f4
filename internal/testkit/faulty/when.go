package faulty

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
)

// Condition chooses calls.
type Condition interface {
	Match(call Call) bool
	String() string
}

type condition struct {
	name  string
	match func(Call) bool
}

func (c condition) Match(call Call) bool { return c.match(call) }
func (c condition) String() string       { return c.name }

// When applies an injector to the calls that meet every condition. They are
// asked in order, and counting ones (First, Nth) only count calls that met those
// before them.
func When(in Injector, conditions ...Condition) Injector { return &when{in, conditions} }

type when struct {
	Injector
	conditions []Condition
}

func (w *when) Inject(ctx context.Context, call Call, next Next) error {
	for _, c := range w.conditions {
		if !c.Match(call) {
			return next(ctx, call)
		}
	}
	return w.Injector.Inject(ctx, call, next)
}

func (w *when) String() string {
	names := make([]string, len(w.conditions))
	for i, c := range w.conditions {
		names[i] = c.String()
	}
	return fmt.Sprintf("%s when %s", w.Injector, strings.Join(names, " and "))
}

func (w *when) bind(late *sync.WaitGroup) {
	if b, ok := w.Injector.(interface{ bind(*sync.WaitGroup) }); ok {
		b.bind(late)
	}
}

// Kinds matches calls of these kinds.
func Kinds(kinds ...Kind) Condition {
	return condition{fmt.Sprintf("%v", kinds), func(c Call) bool {
		for _, k := range kinds {
			if c.Kind == k {
				return true
			}
		}
		return false
	}}
}

// Names matches calls whose last name element fits a pattern of path.Match.
func Names(pattern string) Condition {
	return condition{pattern, func(c Call) bool {
		ok, err := path.Match(pattern, path.Base(c.Name))
		return ok && err == nil
	}}
}

// First matches the first n calls that get to it.
func First(n int64) Condition {
	var count atomic.Int64
	return condition{fmt.Sprintf("first(%d)", n), func(Call) bool { return count.Add(1) <= n }}
}

// Nth matches only the n-th call that gets to it, from 1.
func Nth(n int64) Condition {
	var count atomic.Int64
	return condition{fmt.Sprintf("nth(%d)", n), func(Call) bool { return count.Add(1) == n }}
}

// Switch is a condition that tests turn on and off. It starts off.
type Switch struct{ on atomic.Bool }

// Set turns the switch.
func (s *Switch) Set(on bool) { s.on.Store(on) }

// Match implements Condition.
func (s *Switch) Match(Call) bool { return s.on.Load() }

// String implements Condition.
func (s *Switch) String() string { return "switched" }
