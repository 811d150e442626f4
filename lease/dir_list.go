package lease

import (
	"errors"
	"os"
)

// listNames returns the names in a folder, unsorted.
func listNames(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return names, nil
}
