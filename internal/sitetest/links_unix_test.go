//go:build !windows

package sitetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/lease"
)

// Links and FIFOs on the share: nothing behind them is touched, no member
// hangs, the log names each once, and the site has a relay once the waiting for
// a record that cannot be verified is over.
func TestHole11_LinksAndFIFOsOnTheShare(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 1, Extra: quick()})
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	outside := t.TempDir()
	letter := filepath.Join(outside, "00000000-0000-4000-8000-000000000001.json")
	require.NoError(t, os.WriteFile(letter, []byte("dear"), 0o644))
	chain := filepath.Join(s.Share, "relay_leader.d", head.Share)
	require.NoError(t, os.RemoveAll(filepath.Join(chain, "members")))
	require.NoError(t, os.Symlink(outside, filepath.Join(chain, "members")))
	require.NoError(t, os.Symlink(outside, filepath.Join(s.Share, lease.TempPrefix+"0123456789abcdef")))
	view := filepath.Join(s.Share, lease.ViewName)
	require.NoError(t, os.RemoveAll(view))
	require.NoError(t, syscall.Mkfifo(view, 0o666))
	fifo := filepath.Join(chain, fmt.Sprintf("%010d.lock", head.Rev+3))
	require.NoError(t, syscall.Mkfifo(fifo, 0o666))

	require.NoError(t, s.StartAll())
	n := s.Nodes[0]
	s.status(n, "names the FIFO", func(x localapi.Status) bool { return strings.Contains(x.Note, "FIFO") })
	_, st := s.leader(0, lease.TTLMax+2*slack)
	require.NoError(t, os.Remove(fifo))
	s.logs(n, "a FIFO where a regular file belongs")
	s.logs(n, "a link where a folder belongs")
	s.stays(n, st.Epoch, quickTTL)
	require.Equal(t, 1, strings.Count(n.Log(), "a link where a folder belongs"), "said once")
	b, err := os.ReadFile(letter)
	require.NoError(t, err)
	require.Equal(t, "dear", string(b))
	names, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, names, 1)
	st2, err := os.Lstat(view)
	require.NoError(t, err)
	require.True(t, st2.Mode().IsRegular(), "the view takes the place of what stood there")
}
