package lease

import (
	"errors"

	"golang.org/x/sys/unix"
)

// folderOnly opens a folder as a starting point: no right to list it is needed
// and the server is not asked to open it.
const folderOnly = unix.O_PATH | unix.O_DIRECTORY

// moveNew renames a folder unless the target is there, as one step where the
// file system can (local ones, CIFS), else by moveChecked.
func moveNew(dir int, from string, toDir int, to string) error {
	err := unix.Renameat2(dir, from, toDir, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return moveChecked(dir, from, toDir, to)
	}
	return err
}
