package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdentify(t *testing.T) {
	t.Run("the node stays, the run changes", func(t *testing.T) {
		dir := t.TempDir()
		first, err := identify(dir)
		require.NoError(t, err)
		require.Len(t, first.Run, 12)
		again, err := identify(dir)
		require.NoError(t, err)
		require.Equal(t, first.Node, again.Node)
		require.NotEqual(t, first.Run, again.Run)
	})
	t.Run("every PC is another node", func(t *testing.T) {
		a, err := identify(t.TempDir())
		require.NoError(t, err)
		b, err := identify(t.TempDir())
		require.NoError(t, err)
		require.NotEqual(t, a.Node, b.Node)
	})
	for name, content := range map[string]string{"empty": "", "NUL bytes": "\x00\x00\x00", "not a UUID": "POS-01\n"} {
		t.Run("damaged: "+name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "node")
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			_, err := identify(dir)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "delete the file")
		})
	}
}

func TestBootID(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	require.Equal(t, bootID(a), bootID(a), "the same boot of the same machine")
	require.NotEqual(t, bootID(a), bootID(b), "a copy of STATE_DIR has another guard.lock")
	t.Chdir(a)
	require.Equal(t, bootID(a), bootID("."))
}
