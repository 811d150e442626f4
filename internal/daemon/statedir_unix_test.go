//go:build !windows

package daemon

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is kept is readable for this account alone.
func TestStateDir_Permissions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	release, err := claimStateDir(dir)
	require.NoError(t, err)
	defer release()
	_, err = identify(dir)
	require.NoError(t, err)
	f, err := openState(dir)
	require.NoError(t, err)
	require.NoError(t, f.update(func(s *state) { s.Rev = 1 }))
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s: %v", path, info.Mode())
		return nil
	}))
	require.Empty(t, openToOthers(dir))
	t.Run("a folder others can write to is told of", func(t *testing.T) {
		require.NoError(t, os.Chmod(dir, 0o777))
		require.Contains(t, openToOthers(dir), "chmod go-w")
	})
}
