package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStateFile(t *testing.T) {
	open := func(t *testing.T, content string) (*stateFile, string, error) {
		dir := t.TempDir()
		path := filepath.Join(dir, "state.json")
		if content != "" {
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		}
		f, err := openState(dir)
		return f, path, err
	}
	t.Run("what is saved is there at the next start", func(t *testing.T) {
		f, path, err := open(t, "")
		require.NoError(t, err)
		require.Equal(t, state{V: stateVersion}, f.get())
		require.NoError(t, f.update(func(s *state) { s.Rev, s.Epoch, s.Drained = 1310, 42, true }))
		again, err := openState(filepath.Dir(path))
		require.NoError(t, err)
		require.Equal(t, state{V: stateVersion, Rev: 1310, Epoch: 42, Drained: true}, again.get())
		require.NoFileExists(t, path+".new")
	})
	t.Run("nothing new writes nothing", func(t *testing.T) {
		f, path, err := open(t, "")
		require.NoError(t, err)
		require.NoError(t, f.update(func(*state) {}))
		require.NoFileExists(t, path)
	})
	for name, content := range map[string]string{
		"torn": `{"v":1,"rev":13`, "NUL bytes": "\x00\x00\x00\x00\x00\x00", "another shape": `{"v":1,"rev":"x"}`,
	} {
		t.Run("damaged: "+name, func(t *testing.T) {
			f, path, err := open(t, content)
			require.NoError(t, err, "a damaged file must not keep the site without its relay")
			require.Equal(t, state{V: stateVersion}, f.get())
			kept, err := os.ReadFile(path + ".damaged")
			require.NoError(t, err)
			require.Equal(t, content, string(kept))
			require.NoError(t, f.update(func(s *state) { s.Rev = 5 }))
		})
	}
	t.Run("a newer format is refused and left alone", func(t *testing.T) {
		const newer = `{"v":99,"rev":7,"epoch":7}`
		_, path, err := open(t, newer)
		require.ErrorContains(t, err, "format 99")
		require.ErrorContains(t, err, path)
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, newer, string(kept))
	})
	t.Run("also with fields of another shape", func(t *testing.T) {
		const newer = `{"v":2,"rev":{"chain":7}}`
		_, path, err := open(t, newer)
		require.ErrorContains(t, err, "format 2")
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, newer, string(kept))
		faults := CheckState(filepath.Dir(path))
		require.Len(t, faults, 1)
		require.Contains(t, faults[0].Text, "newer floatrelay")
	})
	for name, c := range map[string]struct {
		content string
		want    state
	}{
		"without a version": {`{"rev":1310,"epoch":42}`, state{V: stateVersion, Rev: 1310, Epoch: 42}},
		"without fields":    {`{"v":1}`, state{V: stateVersion}},
		"with more fields":  {`{"v":1,"rev":7,"epoch":2,"more":[1]}`, state{V: stateVersion, Rev: 7, Epoch: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			f, _, err := open(t, c.content)
			require.NoError(t, err)
			require.Equal(t, c.want, f.get())
		})
	}
	t.Run("a failed write keeps the old state", func(t *testing.T) {
		f, path, err := open(t, "")
		require.NoError(t, err)
		require.NoError(t, f.update(func(s *state) { s.Rev = 1 }))
		require.NoError(t, os.MkdirAll(path+".new/in the way", 0o700)) // where the new file would be written
		require.ErrorContains(t, f.update(func(s *state) { s.Rev = 2 }), "STATE_DIR")
		require.EqualValues(t, 1, f.get().Rev, "what is not on the disk is not known after a restart")
	})
}
