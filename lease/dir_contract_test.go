package lease_test

import (
	"path/filepath"
	"testing"

	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
)

func TestDir_Contract(t *testing.T) {
	sharetest.Run(t, sharetest.Target{
		Fresh: func(t testing.TB) func() lease.Share {
			folder := t.TempDir()
			return func() lease.Share { return lease.NewDir(folder) }
		},
		Missing: func(t testing.TB) lease.Share {
			return lease.NewDir(filepath.Join(t.TempDir(), "socket"))
		},
		Path: lease.Share.String,
	})
}
