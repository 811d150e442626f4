//go:build !windows && !linux

package lease

import "golang.org/x/sys/unix"

// folderOnly opens a folder as a starting point.
const folderOnly = unix.O_RDONLY | unix.O_DIRECTORY

// moveNew renames a folder unless the target is there.
func moveNew(dir int, from string, toDir int, to string) error {
	return moveChecked(dir, from, toDir, to)
}
