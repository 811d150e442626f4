//go:build previous || e2e

package sitetest

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
)

// previousEnv names the program of the release before this one, as
// .ci/build-previous makes it.
const previousEnv = "FLOATRELAY_PREVIOUS"

// previousVersion is what that program calls itself.
const previousVersion = "previous"

func previousExe(t *testing.T) string {
	t.Helper()
	path := os.Getenv(previousEnv)
	require.NotEmpty(t, path, "set %s to what .ci/build-previous built", previousEnv)
	require.FileExists(t, path)
	return path
}

// mixed starts a station whose first nodes run the release before.
func mixed(t *testing.T, nodes, old int) *site {
	t.Helper()
	s := build(t, localsite.Options{Nodes: nodes})
	for _, n := range s.Nodes[:old] {
		require.NoError(t, n.Use(previousExe(t)))
	}
	require.NoError(t, s.StartAll())
	s.leader(0, 25*time.Second)
	s.roster(nodes - 1)
	require.Equal(t, old, s.previous(), "so many run the release before")
	return s
}

// previous is how many nodes run the release before, as their members say.
func (s *site) previous() (n int) {
	s.t.Helper()
	all, err := s.Nodes[0].Members(s.t.Context())
	require.NoError(s.t, err)
	require.Len(s.t, all.Members, len(s.Nodes))
	for _, m := range all.Members {
		if m.Version == previousVersion {
			n++
		}
	}
	return n
}

// A station of both releases survives the crash of a leader of either, by the
// fast way; and each hands over to the other.
func TestPrevious_Station(t *testing.T) {
	t.Parallel()
	s := mixed(t, 4, 2)
	old, fresh := s.Nodes[:2], s.Nodes[2:]
	for _, c := range []struct {
		name     string
		from, to *localsite.Node
	}{
		{"old to new", old[0], fresh[0]}, {"new to new", fresh[0], fresh[1]},
		{"new to old", fresh[1], old[1]}, {"old to old", old[1], old[0]},
	} {
		t.Run("handoff, "+c.name, func(t *testing.T) {
			opsLead(s, c.from)
			s.roster(3)
			_, st := s.leader(0, slack)
			_, before, after := s.handOver(c.from, c.to, st.Epoch, func(from *localsite.Node) {
				require.NoError(t, from.Handoff(t.Context(), c.to.Station))
			})
			require.Equal(t, before+1, after)
		})
	}
	for name, n := range map[string]*localsite.Node{"old": old[1], "new": fresh[1]} {
		t.Run("crash of the leader, "+name, func(t *testing.T) {
			opsLead(s, n)
			s.roster(3)
			_, st := s.leader(0, slack)
			n.PowerCut()
			next, after := s.leader(st.Epoch, fence+slack)
			require.Equal(t, "fence", s.took(next, after.Epoch), "by the roster, not by TTL")
			require.NoError(t, n.Start())
			s.status(n, "follows", func(x localapi.Status) bool {
				return x.Role == "client" && x.Epoch == after.Epoch && x.Gossip.Alive == 4
			})
			s.roster(3)
			s.stays(next, after.Epoch, time.Second)
		})
	}
	require.Equal(t, 2, s.previous())
}

// Upgraded PC by PC, and then rolled back, the site always has its relay, and
// nobody takes the lease from anybody.
func TestPrevious_RollingUpgradeAndBack(t *testing.T) {
	s := mixed(t, 4, 4)
	talk := opsTalking(s)
	talk.flows(20)
	for _, c := range []struct{ name, exe string }{{"upgrade", exe}, {"roll back", previousExe(t)}} {
		t.Run(c.name, func(t *testing.T) {
			var gaps []time.Duration
			for _, n := range s.Nodes {
				from := time.Now()
				require.NoError(t, n.Use(c.exe))
				opsRestart(s, n)
				s.roster(3)
				talk.flows(5)
				gaps = append(gaps, talk.longest(from))
				opsExplain(s, gaps[len(gaps)-1], from)
			}
			opsReport(t, c.name, gaps)
			require.Less(t, gaps[len(gaps)-1], opsLimit())
		})
		if c.exe == exe {
			require.Zero(t, s.previous())
		}
	}
	require.Equal(t, 4, s.previous())
	talk.once()
	opsOnlyHandoffs(s)
}
