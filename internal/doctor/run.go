package doctor

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Limit bounds a whole run. What is left of 10 seconds is for starting the
// program and printing.
const Limit = 9 * time.Second

// Check is one thing to look at.
type Check struct {
	Name string
	// Run tells what it finds. It should end with ctx; if it does not, Hung
	// says what that means and what to do.
	Run  func(ctx context.Context, tell Tell)
	Hung string
}

// collector gathers what the checks tell, also of those that never end.
type collector struct {
	mu       sync.Mutex
	findings [][]Result
	running  []bool
}

// Run runs all checks at the same time and returns after limit at the latest.
// A check that hangs keeps its goroutine; the program is expected to end soon.
func Run(ctx context.Context, checks []Check, limit time.Duration) Report {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := &collector{findings: make([][]Result, len(checks)), running: make([]bool, len(checks))}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for i, check := range checks {
		c.running[i] = true
		wg.Go(func() { c.run(ctx, i, check) })
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		grace := time.NewTimer(200 * time.Millisecond) // for those that do end with ctx
		defer grace.Stop()
		select {
		case <-done:
		case <-grace.C:
		}
	}
	return newReport(c.told(checks, limit))
}

func (c *collector) run(ctx context.Context, i int, check Check) {
	tell := Tell{func(l Level, text, do string) { c.add(i, Result{check.Name, l, text, do}) }}
	defer func() {
		if p := recover(); p != nil {
			tell.Fail("report this as a fault of floatrelay", "the check itself failed: %v %s", p, firstFrames())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.running[i] = false
	}()
	check.Run(ctx, tell)
}

func (c *collector) add(i int, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.findings[i] = append(c.findings[i], r)
}

// told copies what was told so far; what comes later is nobody's business.
func (c *collector) told(checks []Check, limit time.Duration) []Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Result{}
	for i, check := range checks {
		all = append(all, c.findings[i]...)
		if c.running[i] {
			all = append(all, Result{check.Name, Failure, fmt.Sprintf("no result within %v", limit), check.Hung})
		}
	}
	return all
}

func firstFrames() string {
	const most = 400
	s := debug.Stack()
	return string(s[:min(len(s), most)])
}

// bounded calls f, and returns ctx's error if f takes longer: a system call on
// a share that hangs cannot be interrupted.
func bounded(ctx context.Context, f func() error) error {
	_, err := boundedValue(ctx, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// boundedValue is bounded for a call with a result.
func boundedValue[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
