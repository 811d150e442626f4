package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClaimStateDir(t *testing.T) {
	t.Run("one at a time, and the other is named", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "made", "if", "needed")
		release, _, err := claimStateDir(dir)
		require.NoError(t, err)
		_, _, err = claimStateDir(dir)
		var running *AlreadyRunningError
		require.ErrorAs(t, err, &running)
		require.Equal(t, os.Getpid(), running.PID)
		require.ErrorContains(t, err, fmt.Sprintf("pid %d", os.Getpid()))
		require.ErrorContains(t, err, dir)
		release()
		release, _, err = claimStateDir(dir)
		require.NoError(t, err)
		release()
	})
	t.Run("what a killed daemon left behind is no daemon", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{"daemon.lock", "daemon.pid"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("4711\n"), 0o600))
		}
		release, _, err := claimStateDir(dir)
		require.NoError(t, err)
		release()
	})
	t.Run("a holder that cannot be named", func(t *testing.T) {
		dir := t.TempDir()
		release, _, err := claimStateDir(dir)
		require.NoError(t, err)
		defer release()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "daemon.pid"), []byte("garbage"), 0o600))
		_, _, err = claimStateDir(dir)
		require.ErrorContains(t, err, "another floatrelay already runs")
	})
	t.Run("a path that is no folder", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		_, _, err := claimStateDir(file)
		require.ErrorContains(t, err, "STATE_DIR")
	})
}
