package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestCheckState(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	fault := func() StateFault {
		t.Helper()
		got := CheckState(dir, false)
		require.Len(t, got, 1)
		require.NotEmpty(t, got[0].Do)
		return got[0]
	}
	require.Empty(t, CheckState(dir, false), "nothing is there yet")
	require.Empty(t, CheckState(filepath.Join(dir, "none"), false))
	put("node", uuid.NewString()+"\n")
	put("state.json", `{"v":1,"rev":5}`)
	require.Empty(t, CheckState(dir, false))

	put("node", "\x00\x00\x00")
	f := fault()
	require.True(t, f.Grave)
	require.Contains(t, f.Text, filepath.Join(dir, "node")+" is damaged")
	_, err := identify(dir)
	require.Error(t, err, "the daemon indeed does not start")
	put("node", uuid.NewString())

	put("state.json", "\x00\x00")
	f = fault()
	require.False(t, f.Grave)
	require.Contains(t, f.Text, "state.json is damaged")
	require.FileExists(t, filepath.Join(dir, "state.json"), "looking changes nothing")

	put("state.json", `{"v":99}`)
	f = fault()
	require.True(t, f.Grave)
	require.Contains(t, f.Text, "newer floatrelay")
	_, err = openState(dir)
	require.Error(t, err, "the daemon indeed does not start")

	require.NoError(t, os.Remove(filepath.Join(dir, "state.json")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "state.json"), 0o700))
	require.True(t, fault().Grave)
}
