package lease

import "golang.org/x/sys/windows"

// spaceIn returns the bytes this account may still write in a folder, its quota
// included, and those of the whole disk.
func spaceIn(path string) (free, total uint64, err error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, 0, err
	}
	err = windows.GetDiskFreeSpaceEx(p, &free, &total, nil)
	return free, total, err
}
