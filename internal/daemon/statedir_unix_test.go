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
	release, _, err := claimStateDir(dir)
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
}

// A folder that others may change is closed before anything is kept in it. One
// that is meant to be shared stays as it is, and is refused.
func TestHole14_StateDirOpenToOthersIsClosed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o777))
	require.Contains(t, openToOthers(dir), "chmod go-w")
	require.NotEmpty(t, CheckState(dir, false), "doctor says so")
	release, _, err := claimStateDir(dir)
	require.NoError(t, err)
	release()
	require.Empty(t, openToOthers(dir))
	require.NoError(t, os.Chmod(dir, 0o777|os.ModeSticky))
	_, _, err = claimStateDir(dir)
	require.ErrorContains(t, err, "chmod go-w")
	st, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, 0o777|os.ModeSticky, st.Mode()&^os.ModeDir, "left as it is")
}

// A folder, or a file in it, of another account is refused and named.
func TestHole14_StateDirOfAnotherAccountIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	for name, give := range map[string]string{"the folder": ".", "the identity": "node", "a link": "history.ndjson"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "node"), []byte("x"), 0o600))
			require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "history.ndjson")))
			require.Empty(t, strangersIn(dir))
			require.NoError(t, os.Lchown(filepath.Join(dir, give), 4711, -1))
			_, _, err := claimStateDir(dir)
			require.ErrorContains(t, err, "belongs to another account (uid 4711")
			require.True(t, CheckState(dir, false)[len(CheckState(dir, false))-1].Grave, "doctor says so")
		})
	}
}
