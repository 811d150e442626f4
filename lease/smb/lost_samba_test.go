//go:build e2e

package smb_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/smb"
)

// Row B17: whatever way the server or the connection is lost, a share that had
// a lease is unavailable for every question, and no question is answered with
// "there is no lease". Once the server is back everything is there again.
func TestCaseB17_LostServerIsNeverNoLease(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	for name, lose := range map[string]func(p *proxy) (back func()){
		"killed": func(*proxy) func() {
			server.Stop()
			return func() { server.Run(t) }
		},
		"frozen": func(*proxy) func() {
			server.Freeze()
			return server.Resume
		},
		"its processes for this client killed": func(p *proxy) func() {
			server.ResetConnections()
			p.fates(func([]byte) fate { return resetNow })
			return func() { p.fates(func([]byte) fate { return pass }) }
		},
		"cable cut": func(p *proxy) func() {
			p.stalled.Store(true)
			return func() { p.stalled.Store(false); p.reset() }
		},
		"every request reset": func(p *proxy) func() {
			p.fates(func([]byte) fate { return resetNow })
			return func() { p.fates(func([]byte) fate { return pass }) }
		},
		"every answer lost": func(p *proxy) func() {
			p.fates(func([]byte) fate { return resetAfter })
			return func() { p.fates(func([]byte) fate { return pass }) }
		},
		"the folder away, as when its disk is not mounted": func(p *proxy) func() {
			away := filepath.Join(server.Folder, "away")
			folder := theFolder(t, server)
			require.NoError(t, os.Rename(folder, away))
			return func() { require.NoError(t, os.Rename(away, folder)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			clearFolder(t, server)
			s, folder, p := behindProxy(t, server, smb.Options{Call: 700 * time.Millisecond})
			chain := lease.NewChain(s)
			id := foundChain(t, lease.NewChain(open(t, server.URL(filepath.Base(folder)), smb.Options{}))) // with more time
			connect(t, s)
			back := lose(p)
			for range 3 {
				requireUnavailable(t, chain, s, id)
			}
			back()
			require.Eventually(t, func() bool {
				l, err := chain.List(t.Context())
				return err == nil && l.Share == id && l.Head() == 1
			}, 30*time.Second, 50*time.Millisecond, "the chain is there again")
			require.DirExists(t, folder)
		})
	}
}

// clearFolder leaves the share without folders of earlier cases.
func clearFolder(t *testing.T, server *sambatest.Server) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(server.Folder, "*"))
	require.NoError(t, err)
	for _, n := range names {
		require.NoError(t, os.RemoveAll(n))
	}
}

// theFolder is the only folder of the share.
func theFolder(t *testing.T, server *sambatest.Server) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(server.Folder, "socket*"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	return names[0]
}

// foundChain makes a chain with one record, and returns its share id.
func foundChain(t *testing.T, chain *lease.Chain) (id string) {
	t.Helper()
	id = "45a935d1-0000-4000-8000-000000000001"
	require.NoError(t, chain.Found(t.Context(), id, 1, []byte("genesis\n")))
	l, err := chain.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, id, l.Share)
	return id
}

// requireUnavailable asks everything that could be answered with "no lease".
func requireUnavailable(t *testing.T, chain *lease.Chain, s lease.Share, id string) {
	t.Helper()
	for what, ask := range map[string]func() error{
		"list the chain":    func() error { _, err := chain.List(t.Context()); return err },
		"read a record":     func() error { _, err := chain.Read(t.Context(), id, 1); return err },
		"look for the next": func() error { _, err := chain.Read(t.Context(), id, 2); return err },
		"read the view":     func() error { _, _, err := chain.ReadFloor(t.Context()); return err },
		"list the share":    func() error { _, err := s.List(t.Context(), ""); return err },
	} {
		err := ask()
		require.Error(t, err, what)
		require.NotErrorIs(t, err, lease.ErrNotExist, what)
		require.NotErrorIs(t, err, lease.ErrDenied, what)
		require.ErrorIs(t, err, lease.ErrUnavailable, what)
	}
	err := chain.Create(t.Context(), id, 2, []byte("x"))
	require.True(t, errors.Is(err, lease.ErrUnavailable) || errors.Is(err, lease.ErrUnknown), "create: %v", err)
	require.NotErrorIs(t, err, lease.ErrNotExist)
	require.NotErrorIs(t, err, lease.ErrExists)
}
