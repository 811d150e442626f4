package lease

import "golang.org/x/sys/unix"

// spaceIn returns the bytes this account may still write in a folder, and those
// of the whole file system.
func spaceIn(path string) (free, total uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, err
	}
	unit := uint64(st.Bsize)
	return st.Bavail * unit, st.Blocks * unit, nil
}
