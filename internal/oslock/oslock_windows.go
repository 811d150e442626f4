package oslock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockAt is the byte that is locked: far behind the content, so that the file
// stays readable for others.
const lockAt = 1 << 30

func region() *windows.Overlapped { return &windows.Overlapped{Offset: lockAt} }

func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, region())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrHeld
	}
	return err
}

func unlock(f *os.File) { _ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, region()) }
