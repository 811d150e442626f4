package sitetest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
)

// A daemon that is away for less than the fence, again and again, keeps the
// lease.
func TestShortPausesAreNoFailover(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Extra: steady()})
	s.roster(2)
	for range 5 {
		require.NoError(t, n.Freeze())
		time.Sleep(300 * time.Millisecond)
		require.NoError(t, n.Resume())
		time.Sleep(300 * time.Millisecond)
	}
	s.stays(n, st.Epoch, time.Second)
	require.Len(t, s.pids(n), 1, "the relay was restarted")
}

// The relay crashes: it is back at once, here, and nobody else takes over.
func TestRelayCrashIsNoFailover(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 2, Extra: steady()})
	s.roster(1)
	old := s.life(st.Epoch).PIDs
	procs.Kill(old[0])
	s.status(n, "has its relay back", func(x localapi.Status) bool {
		return x.Relay.State == "running" && x.Relay.Restarts > st.Relay.Restarts
	})
	s.stays(n, st.Epoch, time.Second)
	s.outlived(n, old)
}

// The guard is killed: its whole relay tree dies with it, and another starts
// only after a new record.
func TestGuardCrash(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"single", "double"} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			s, n, st := start(t, localsite.Options{Nodes: 2, RelayArgs: "-shape " + shape})
			s.roster(1)
			before, err := s.Head(t.Context())
			require.NoError(t, err)
			var old []int
			s.until(slack, "all of the relay has begun", func() error {
				if old = s.life(st.Epoch).PIDs; shape == "double" && len(old) < 2 {
					return errNotYet
				}
				return nil
			})
			tree := procs.Tree(n.PID())
			require.Greater(t, len(tree), 1)
			procs.Kill(tree[1]) // the daemon's only child is its guard
			s.until(slack, "the relay ended with its guard", func() error {
				for _, pid := range old {
					if err := notRelay(pid); err != nil {
						return err
					}
				}
				return nil
			})
			s.until(2*slack, "there is a relay again", func() error {
				_, now, err := s.Leader(t.Context())
				if err == nil && now.Rev <= before.Rev {
					return fmt.Errorf("it runs on record %d, which the lost guard had", now.Rev)
				}
				return err
			})
			s.outlived(n, old)
		})
	}
}

// The guard stands still and its daemon is killed: the PC counts as frozen, and
// its relay runs on. The next daemon of this PC ends it, guard and all.
func TestFrozenGuardOfADeadDaemon(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 2, RelayArgs: "-shape double"})
	s.roster(1)
	old := s.life(st.Epoch).PIDs
	guard := procs.Tree(n.PID())[1]
	require.NoError(t, procs.Freeze(guard))
	t.Cleanup(func() { procs.Kill(guard) })
	n.KillDaemon()
	require.NoError(t, n.Start())
	s.until(2*slack, "what the frozen guard left has been ended", func() error {
		for _, pid := range old {
			if err := notRelay(pid); err != nil {
				return err
			}
		}
		return nil
	})
	s.status(n, "may lead again", func(x localapi.Status) bool { return x.Eligible })
	s.logs(n, "whose guard stood still")
}

// The lease folder is wiped under a running leader: its relay ends at TTL, and
// a new chain goes on above every rev and epoch there was.
func TestFolderWiped(t *testing.T) {
	t.Parallel()
	s, _, st := start(t, localsite.Options{Nodes: 2, Extra: quick()})
	s.roster(1)
	before, err := s.Head(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(s.Share, "relay_leader.d"), filepath.Join(s.Dir, "wiped")))
	s.dies(st.Epoch, quickTTL+slack)
	_, again := s.leader(st.Epoch, 45*time.Second)
	require.Greater(t, again.Epoch, st.Epoch)
	require.Greater(t, again.Rev, before.Rev)
	require.NotEqual(t, before.Share, again.Share.ID)
}

// life of one process as it wrote it, in boot time.
type lived struct{ first, last int64 }

// pids reads the relay processes of a node from its life log, each by itself.
func (s *site) pids(n *localsite.Node) map[int]lived {
	s.t.Helper()
	b, err := os.ReadFile(n.LifeLog())
	require.NoError(s.t, err)
	out := map[int]lived{}
	for _, line := range strings.Split(string(b), "\n") {
		var what string
		var pid int
		var at int64
		if n, _ := fmt.Sscan(line, &what, &pid, &at); n < 3 {
			continue
		}
		l, known := out[pid]
		if !known {
			l.first = at
		}
		l.last = max(l.last, at)
		out[pid] = l
	}
	return out
}

// outlived demands that the processes old, all of one relay of a node, were gone
// before any of its next relay began, although both have one epoch.
func (s *site) outlived(n *localsite.Node, old []int) {
	s.t.Helper()
	var last int64
	next := int64(math.MaxInt64)
	for pid, l := range s.pids(n) {
		if slices.Contains(old, pid) {
			last = max(last, l.last)
		} else {
			next = min(next, l.first)
		}
	}
	require.NotZero(s.t, last, "no process of the old relay is known")
	require.Less(s.t, last, next, "an old process of the relay outlived the start of the next")
	require.NotEqual(s.t, int64(math.MaxInt64), next, "no next relay is known")
}
