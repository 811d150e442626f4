// Package oslock takes locks on files that the system lets go when their
// holder's process ends, however it ends.
package oslock

import (
	"errors"
	"fmt"
	"os"
)

// ErrHeld says that somebody else holds the lock.
var ErrHeld = errors.New("lock is held")

// Lock is a held lock.
type Lock struct{ file *os.File }

// Take takes the lock on path, creating the file if needed, without waiting. It
// returns an error wrapping ErrHeld if somebody has it.
func Take(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := lock(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{file: f}, nil
}

// File is the locked file. The lock belongs to the open file: a process that
// inherits it keeps the lock alive until it ends or the lock is released.
func (l *Lock) File() *os.File { return l.file }

// Release lets the lock go. The file stays: removing it would let two holders
// lock two files of one name.
func (l *Lock) Release() {
	unlock(l.file)
	_ = l.file.Close()
}
