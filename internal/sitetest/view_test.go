package sitetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/testkit/viewread"
	"github.com/convertfw/floatrelay/lease"
)

// readView reads relay_leader.json as another program does.
func (s *site) readView() (lease.View, error) {
	b, err := os.ReadFile(filepath.Join(s.Share, lease.ViewName))
	if err != nil {
		return lease.View{}, err
	}
	return viewread.Parse(b)
}

// viewSays waits until the view names the relay of n.
func (s *site) viewSays(n *localsite.Node, epoch uint64) {
	s.t.Helper()
	s.until(slack, "the view names the relay of "+n.Station, func() error {
		v, err := s.readView()
		if err != nil {
			return err
		}
		if v.Station != n.Station || v.IP != n.Addr || v.Port != n.RelayPort || v.Epoch != epoch || !v.Ready || v.PID == 0 {
			return fmt.Errorf("%w: %+v", errNotYet, v)
		}
		return nil
	})
}

// A view that cannot be replaced costs nobody the lease: it is said once, with
// the reason, and told as soon as it can be.
func TestViewCannotBePublished(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 2, Extra: steady()})
	s.roster(1)
	s.viewSays(n, st.Epoch)
	view := filepath.Join(s.Share, lease.ViewName)
	require.NoError(t, os.Remove(view))
	require.NoError(t, os.MkdirAll(filepath.Join(view, "in the way"), 0o755))
	before, err := s.Head(t.Context())
	require.NoError(t, err)
	s.stays(n, st.Epoch, 2*steadyTTL)
	after, err := s.Head(t.Context())
	require.NoError(t, err)
	require.Greater(t, after.Rev, before.Rev+3, "renewals went on")
	const said = "clients that read relay_leader.json are not told of this relay"
	s.logs(n, said)
	require.Equal(t, 1, strings.Count(n.Log(), said))
	require.NoError(t, os.RemoveAll(view))
	s.viewSays(n, st.Epoch)
	s.logs(n, "relay_leader.json is published again")
	s.stays(n, st.Epoch, steadyFence)
}

// Whatever other programs do to the view, the lease does not follow it; the
// next renewal puts it right.
func TestViewIsOverwrittenByOthers(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 2, Extra: steady()})
	s.roster(1)
	s.viewSays(n, st.Epoch)
	good, err := os.ReadFile(filepath.Join(s.Share, lease.ViewName))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"emptied": "", "NULs": strings.Repeat("\x00", len(good)), "cut": string(good[:len(good)/2]), "gone": "gone",
		"far ahead":  strings.Replace(string(good), fmt.Sprintf(`"epoch":%d`, st.Epoch), `"epoch":4999999999`, 1),
		"lease over": strings.Replace(string(good), `"lease_until":"2`, `"lease_until":"1`, 1), "by Notepad": "\xef\xbb\xbf" + string(good),
	} {
		path := filepath.Join(s.Share, lease.ViewName)
		if text == "gone" {
			require.NoError(t, os.Remove(path), name)
		} else {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o666), name)
		}
		s.viewSays(n, st.Epoch)
	}
	// A daemon that starts meanwhile is not led astray either.
	other := s.others(n)[0]
	require.NoError(t, other.Stop(s.within(slack*2)))
	require.NoError(t, os.WriteFile(filepath.Join(s.Share, lease.ViewName), good[:40], 0o666))
	require.NoError(t, other.Start())
	s.roster(1)
	s.stays(n, st.Epoch, steadyTTL)
}
