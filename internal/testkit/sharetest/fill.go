//go:build e2e

package sharetest

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Fill leaves no byte on the disk of path, a new file; to remove it makes room
// again. The disk should be a small one of the test's own.
func Fill(t testing.TB, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
}
