package relayproc

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/convertfw/floatrelay/internal/oslock"
)

// ErrLocked says that guard.lock is held: a relay tree of this node, or its
// guard, still lives.
var ErrLocked = errors.New("guard.lock is held by a relay of an earlier run")

// takeLock takes guard.lock without waiting.
func takeLock(path string) (*oslock.Lock, error) {
	lock, err := oslock.Take(path)
	if errors.Is(err, oslock.ErrHeld) {
		return nil, fmt.Errorf("%w (%s)", ErrLocked, path)
	}
	return lock, err
}

// ProbeLock reports whether guard.lock at path can be taken now and the tree
// recorded beside it is gone. It returns nil, an error wrapping ErrLocked, or
// what kept the file from being opened. The lock is let go again.
func ProbeLock(path string) error {
	lock, err := takeLock(path)
	if err != nil {
		return err
	}
	defer lock.Release()
	return recordedGone(filepath.Dir(path))
}

// WaitLock waits until ProbeLock succeeds. It returns the last complaint when
// ctx ends, and at once what cannot get better by waiting.
func WaitLock(ctx context.Context, path string) error {
	for {
		err := ProbeLock(path)
		if err == nil || !errors.Is(err, ErrLocked) {
			return err
		}
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("wait for guard.lock: %w: %w", ctx.Err(), err)
		}
	}
}
