//go:build e2e

package smb_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/smb"
)

// open returns a share of its own that ends with the test.
func open(t testing.TB, url string, opt smb.Options) *smb.Share {
	t.Helper()
	s, err := smb.Open(url, sambatest.Password, opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestShare_ContractOnSamba(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	var n atomic.Int64
	sharetest.Run(t, sharetest.Target{
		Fresh: func(t testing.TB) func() lease.Share {
			folder := fmt.Sprintf("socket%d", n.Add(1))
			require.NoError(t, os.Mkdir(filepath.Join(server.Folder, folder), 0o777))
			return func() lease.Share { return open(t, server.URL(folder), smb.Options{}) }
		},
		Missing: func(t testing.TB) lease.Share { return open(t, server.URL("none"), smb.Options{}) },
		Path: func(s lease.Share) string {
			return filepath.Join(server.Folder, path.Base(s.String()))
		},
		Hides: true,
	})
}

func TestShare_InspectorOnSamba(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	require.NoError(t, os.Mkdir(filepath.Join(server.Folder, "socket"), 0o777))
	sharetest.Inspect(t, open(t, server.URL("socket"), smb.Options{}))
}
