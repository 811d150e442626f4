package lease

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Row E01: to a service, and to an elevated console, the drive of LEASE_DIR
// does not exist. That is no folder without a lease: every question fails as
// unavailable and says what to use instead, and nothing is created there.
func TestCaseE01_DriveThatThisAccountDoesNotSee(t *testing.T) {
	local := t.TempDir() // what a folder made by mistake would be seen in
	pathNotFound := code(3)
	d := asWindows(`W:\socket`)
	d.sys.create = func(string) (handle, error) { return nil, pathNotFound }
	d.sys.open = func(string) (io.ReadCloser, error) { return nil, pathNotFound }
	d.sys.list = func(string) ([]string, error) { return nil, pathNotFound }
	d.sys.exists = func(string) error { return pathNotFound }
	d.sys.rename = func(_, _ string) error { return pathNotFound }
	d.sys.move = func(_, _ string) error { return pathNotFound }
	d.sys.remove = func(string) error { return pathNotFound }
	d.sys.mkdir = func(p string) error {
		require.NotEmpty(t, p, "LEASE_DIR is never created")
		return pathNotFound
	}
	requireDriveMissing(t, d)
	names, err := os.ReadDir(local)
	require.NoError(t, err)
	require.Empty(t, names)
	require.NoDirExists(t, filepath.Join(".", "W:"), "nor anything by that name here")
}

// requireDriveMissing asks for everything that could be answered with "there is
// no lease".
func requireDriveMissing(t *testing.T, s Share) {
	t.Helper()
	chain := NewChain(s)
	const share = "45a935d1-0000-4000-8000-000000000001"
	for what, ask := range map[string]func() error{
		"list the chain":  func() error { _, err := chain.List(t.Context()); return err },
		"read a record":   func() error { _, err := chain.Read(t.Context(), share, 1); return err },
		"read the view":   func() error { _, _, err := chain.ReadView(t.Context()); return err },
		"create a record": func() error { return chain.Create(t.Context(), share, 2, nil) },
		"found a chain":   func() error { return chain.Found(t.Context(), share, 1, nil) },
		"publish":         func() error { return chain.Publish(t.Context(), View{KMSN: "1"}) },
		"list the share":  func() error { _, err := s.List(t.Context(), ""); return err },
		"write its own file": func() error {
			return chain.WriteMember(t.Context(), share, Member{Node: "n", Addrs: []string{"10.0.0.1"}})
		},
	} {
		err := ask()
		require.ErrorIs(t, err, ErrUnavailable, what)
		require.NotErrorIs(t, err, ErrNotExist, what)
		require.ErrorContains(t, err, `share not visible for this account`, what)
		require.ErrorContains(t, err, `use \\server\share`, what)
	}
}
