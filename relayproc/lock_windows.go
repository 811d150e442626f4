package relayproc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// fileLock is an OS lock on one byte far behind the end of the file, so that
// others can still read what is in it.
type fileLock struct{ file *os.File }

const lockOffsetHigh = 0x7fffffff

// takeLock takes the lock at path without waiting.
func takeLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open guard.lock: %w", err)
	}
	at := &windows.Overlapped{OffsetHigh: lockOffsetHigh}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if err == nil {
		return &fileLock{f}, nil
	}
	f.Close()
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return nil, fmt.Errorf("%w (%s)", ErrLocked, path)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

func (l *fileLock) release() {
	at := &windows.Overlapped{OffsetHigh: lockOffsetHigh}
	windows.UnlockFileEx(windows.Handle(l.file.Fd()), 0, 1, 0, at)
	l.file.Close()
}
