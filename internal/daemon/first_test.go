package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
)

// first is a STATE_DIR as the first release left it.
func first(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/first")))
	return dir
}

// What the first release kept is understood, to the last field, and written again
// as it was: the release before can be put back.
func TestStateDir_OfTheFirstRelease(t *testing.T) {
	dir := first(t)
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(b)
	}
	id, err := identify(dir)
	require.NoError(t, err)
	require.Equal(t, "7c9e6679-7425-40de-944b-e07fc1f90ae7", id.Node)

	before := text("state.json")
	f, err := openState(dir)
	require.NoError(t, err)
	require.Equal(t, state{V: 1, Rev: 1310, Epoch: 42, Drained: true}, f.get())
	require.NoError(t, f.update(func(s *state) { s.Rev++ }))
	require.NoError(t, f.update(func(s *state) { s.Rev-- }))
	require.Equal(t, before, text("state.json"))

	before = text("members.json")
	p := &discovery{dir: dir}
	rows, aside := p.remembered()
	require.Empty(t, aside)
	require.Len(t, rows, 2)
	require.Equal(t, "POS-02", rows[0].Meta.Station)
	require.Equal(t, "192.168.1.12:7946", rows[0].Addr.String())
	require.Equal(t, "許功蓋", rows[1].Meta.Station)
	require.Equal(t, "5f0d1f0a-52a7-4a3d-8c26-8a7b8f6f0c11", rows[1].ID.Node)
	require.NoError(t, p.remember(rows))
	require.Equal(t, before, text("members.json"))
	require.Empty(t, CheckState(dir, false))
}

// Members remembered with fewer fields, or more, are taken for what they hold;
// another form is put aside, not overwritten.
func TestDiscovery_RemembersOtherForms(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		known int
		aside bool
	}{
		"without station and seen": {`[{"node":"0b7f3c52-9d0e-4c3f-8a8e-2f1f6c1f3a10","run":"00112233aabb","addr":"192.168.1.12:7946"}]`, 1, false},
		"with more fields":         {`[{"node":"0b7f3c52-9d0e-4c3f-8a8e-2f1f6c1f3a10","run":"00112233aabb","addr":"192.168.1.12:7946","port6":7}]`, 1, false},
		"a newer form":             {`{"v":2,"members":[]}`, 0, true},
		"torn":                     {`[{"node":"0b7f`, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := &discovery{dir: t.TempDir()}
			require.NoError(t, os.WriteFile(p.rememberedPath(), []byte(c.text), 0o600))
			rows, aside := p.remembered()
			require.Len(t, rows, c.known)
			require.NoError(t, p.remember([]gossip.Row{}))
			if !c.aside {
				require.Empty(t, aside)
				return
			}
			kept, err := os.ReadFile(aside)
			require.NoError(t, err)
			require.Equal(t, c.text, string(kept))
		})
	}
}
