package main

import (
	"context"
	"errors"
)

// errInterrupted says that the program was to end before it had read something.
var errInterrupted = errors.New("interrupted")

// unlessEnded returns what f returns, or errInterrupted as soon as ctx ends: a
// read from a share that hangs cannot be ended, but it can be left behind. f
// must touch nothing that its caller goes on to change.
func unlessEnded[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		v, err := f()
		done <- answer{v, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, errInterrupted
	}
}
