//go:build unix

package relayproc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// fileLock is an OS lock on an open file. It belongs to the open file, so it
// lives on in a process that inherited it; release lets it go for all.
type fileLock struct{ file *os.File }

// takeLock takes the lock at path without waiting.
func takeLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open guard.lock: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return &fileLock{f}, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w (%s)", ErrLocked, path)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

func (l *fileLock) release() {
	unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	l.file.Close()
}
