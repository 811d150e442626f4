package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWrite_ReplacesAndLeavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	for _, body := range []string{"one", "", "three"} {
		require.NoError(t, Write(path, []byte(body)))
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, body, string(b))
	}
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 1)
}

// What lies under the temporary name is no obstacle, and a link there leads
// nowhere.
func TestWrite_LeftoversAndLinksUnderTheTemporaryName(t *testing.T) {
	dir := t.TempDir()
	path, outside := filepath.Join(dir, "state.json"), filepath.Join(t.TempDir(), "letter")
	require.NoError(t, os.WriteFile(path+suffix, []byte("torn"), 0o600))
	require.NoError(t, Write(path, []byte("new")))
	require.NoError(t, os.WriteFile(outside, []byte("dear"), 0o600))
	if err := os.Symlink(outside, path+suffix); err != nil {
		t.Logf("NOT SHOWN: links: %v", err)
		return
	}
	require.NoError(t, Write(path, []byte("newer")))
	b, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "dear", string(b))
}

func TestWrite_SaysWhatFailed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "state.json")
	require.ErrorContains(t, Write(path, nil), "write "+path)
}
