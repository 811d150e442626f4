package main

import (
	"context"
	"sync"
	"time"
)

// readyPatience is how long the start of a service may wait to learn whether
// the daemon could start. A daemon that waits longer, for the network or for a
// share that hangs, is as started as it can be: systemd must neither kill it
// nor keep whoever asked for the start.
const readyPatience = 3 * time.Second

// awaitStart runs open, which may wait for a share or for the network. notify
// is told READY=1 once it has succeeded, or after readyPatience if that is
// earlier. It returns errInterrupted as soon as ctx ends; what open returns
// after that is discarded.
func awaitStart[T any](ctx context.Context, notify func(state string), open func() (T, error), discard func(T)) (T, error) {
	ready := sync.OnceFunc(func() { notify("READY=1") })
	timer := time.AfterFunc(readyPatience, ready)
	defer timer.Stop()
	v, err := unlessEnded(ctx, func() (T, error) {
		v, err := open()
		if ctx.Err() == nil {
			return v, err
		}
		if err == nil {
			discard(v)
		}
		var none T
		return none, errInterrupted
	})
	if err == nil {
		ready()
	}
	return v, err
}
