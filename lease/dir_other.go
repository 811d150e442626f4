//go:build !windows && !linux

package lease

// moveNew renames a folder unless the target is there.
func moveNew(from, to string) error { return renameChecked(from, to) }
