// Package atomicfile replaces small files of this PC, such as those in
// STATE_DIR, so that a power cut leaves the old content or the new, never a
// mixture. It does not flush the folder: after a power cut the old content may
// be back.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// suffix is added to the name of a file while it is being written.
const suffix = ".new"

// Write makes path hold b, readable for this account alone. What a crash left of
// an earlier attempt is removed first, so that nothing is ever written through
// a link of that name.
func Write(path string, b []byte) error {
	tmp := path + suffix
	f, err := create(tmp)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func create(path string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_EXCL | os.O_WRONLY
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrExist) && os.Remove(path) == nil {
		f, err = os.OpenFile(path, flags, 0o600)
	}
	return f, err
}
