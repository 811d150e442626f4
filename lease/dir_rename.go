//go:build !windows

package lease

import (
	"os"
	"syscall"
)

// renameChecked renames a folder where the system has no exclusive rename. The
// system itself refuses a target that is a folder with something in it, as every
// chain is; the check before adds empty folders and files, not as one step.
func renameChecked(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return syscall.EEXIST
	} else if !os.IsNotExist(err) {
		return err
	}
	return os.Rename(from, to)
}
