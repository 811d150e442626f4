//go:build !windows

package lease_test

import (
	"context"
	"os"
	"path/filepath"

	"github.com/convertfw/floatrelay/lease"
)

// momentary: a rename hides the name at no instant.
func momentary(error) bool { return false }

// foreignReaders are ways to read a file, all at once: nothing one reader does
// can hinder a rename here.
func foreignReaders(path string) map[string]map[string]func() ([]byte, error) {
	share := lease.NewDir(filepath.Dir(path))
	return map[string]map[string]func() ([]byte, error){"all at once": {
		"whole": func() ([]byte, error) { return os.ReadFile(path) },
		"byte by byte": func() ([]byte, error) {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			return readSlowly(f)
		},
		"writable": func() ([]byte, error) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return nil, err
			}
			return readSlowly(f)
		},
		"floatrelay": func() ([]byte, error) { return share.Read(context.Background(), lease.ViewName) },
	}}
}
