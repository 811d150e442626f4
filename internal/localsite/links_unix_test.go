//go:build !windows

package localsite

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// Making a link needs a right of its own on Windows.
func TestSite_Share(t *testing.T) {
	s, err := New(Options{Nodes: 2, OwnLinks: true, Dir: t.TempDir()})
	require.NoError(t, err)
	r, err := s.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, lease.Released, r.State, "a new chain is nobody's")
	n := s.Nodes[0]
	_, err = os.Stat(n.Share + "/relay_leader.d")
	require.NoError(t, err)
	require.NoError(t, n.CutShare())
	_, err = os.Stat(n.Share)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = os.Stat(s.Nodes[1].Share + "/relay_leader.d")
	require.NoError(t, err, "the others still have it")
	other := t.TempDir()
	id, err := Found(other)
	require.NoError(t, err)
	require.NoError(t, n.LinkShare(other))
	_, err = os.Stat(n.Share + "/relay_leader.d/" + id)
	require.NoError(t, err)
}
