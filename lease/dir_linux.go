package lease

import (
	"errors"

	"golang.org/x/sys/unix"
)

// moveNew renames a folder unless the target is there, as one step where the
// file system can (local ones, CIFS), else by renameChecked.
func moveNew(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return renameChecked(from, to)
	}
	return err
}
