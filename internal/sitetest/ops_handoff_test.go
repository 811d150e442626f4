package sitetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
)

// A client sees a short silence at each handoff and at each restart of a whole
// rolling upgrade, and no message twice.
func TestOps_ClientsThroughHandoffsAndARollingRestart(t *testing.T) {
	s, _, _ := start(t, localsite.Options{Nodes: 5})
	s.roster(4)
	talk := opsTalking(s)
	talk.flows(20)

	t.Run("handoffs", func(t *testing.T) {
		var gaps []time.Duration
		for range opsHandoffs(t) {
			n, st := s.leader(0, slack)
			s.roster(1)
			from := time.Now()
			require.NoError(t, n.Client().Handoff(t.Context(), ""))
			next, _ := s.leader(st.Epoch, slack)
			require.NotEqual(t, n.Station, next.Station)
			talk.flows(5)
			gaps = append(gaps, talk.longest(from))
			opsExplain(s, gaps[len(gaps)-1], from)
		}
		opsReport(t, "handoff", gaps)
		require.Less(t, gaps[len(gaps)-1], opsLimit())
	})
	t.Run("rolling restart", func(t *testing.T) {
		var gaps []time.Duration
		for _, n := range s.Nodes {
			from := time.Now()
			opsRestart(s, n)
			talk.flows(5)
			gaps = append(gaps, talk.longest(from))
			opsExplain(s, gaps[len(gaps)-1], from)
		}
		opsReport(t, "restart", gaps)
		require.Less(t, gaps[len(gaps)-1], opsLimit())
	})
	talk.once()
	opsOnlyHandoffs(s)
}

// opsRestart restarts a node as an upgrade would: it ends gracefully, and the
// next is touched once it is back and its site has a relay.
func opsRestart(s *site, n *localsite.Node) {
	s.t.Helper()
	require.NoError(s.t, n.Stop(s.within(20*time.Second)))
	require.NoError(s.t, n.Start())
	s.status(n, "is back", func(st localapi.Status) bool {
		return st.Leader != "" && st.Eligible && st.Gossip.Alive == len(s.Nodes)
	})
	s.leader(0, slack)
}

// opsOnlyHandoffs demands that no lease was taken from anybody: every one that
// anybody remembers was given.
func opsOnlyHandoffs(s *site) {
	s.t.Helper()
	for _, n := range s.Nodes {
		past, err := n.Client().History(s.t.Context())
		require.NoError(s.t, err)
		require.NotEmpty(s.t, past)
		for _, p := range past {
			require.NotContains(s.t, []string{"fence", "ttl", "unknown", "new-chain"}, p.Reason, "%s remembers: %s", n.Station, p.Text)
		}
	}
}

// The server with the port-forward gets the lease back once, after it has been
// stable for half a minute, and keeps it.
func TestOps_PreemptOnce(t *testing.T) {
	t.Parallel()
	server := func(i int, keys map[string]string) {
		if i == 0 {
			keys["RELAY_PRIORITY"], keys["RELAY_PREEMPT"] = "200", "1"
		}
	}
	s, _, first := start(t, localsite.Options{Extra: steady(), Adjust: server})
	n, st := s.leader(0, slack)
	if n != s.Nodes[0] {
		n, st = s.leader(first.Epoch, 60*time.Second)
	}
	require.Equal(t, s.Nodes[0].Station, n.Station)
	require.NoError(t, n.Stop(s.within(20*time.Second)))
	other, away := s.leader(st.Epoch, slack)
	require.NotEqual(t, n.Station, other.Station)
	back := time.Now()
	require.NoError(t, n.Start())
	s.stays(other, away.Epoch, 20*time.Second) // not before it is stable
	again, home := s.leader(away.Epoch, 20*time.Second+2*slack)
	require.Equal(t, n.Station, again.Station)
	require.Greater(t, time.Since(back), 29*time.Second)
	require.Equal(t, away.Epoch+1, home.Epoch)
	s.stays(n, home.Epoch, 8*time.Second) // and nobody wants it back
	opsOnlyHandoffs(s)
}

// Drained, a PC gives the lease away and does not lead again, not even after a
// restart, until it is told to.
func TestOps_DrainSurvivesARestart(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 2, Extra: steady()})
	s.roster(1)
	require.NoError(t, n.Client().Drain(t.Context()))
	next, after := s.leader(st.Epoch, slack)
	require.NotEqual(t, n.Station, next.Station)
	require.NoError(t, n.Stop(s.within(20*time.Second)))
	require.NoError(t, n.Start())
	s.status(n, "is still drained", func(st localapi.Status) bool {
		return st.Role == "ineligible" && st.Share.ID != "" && strings.Contains(st.Note, "drained by hand")
	})
	s.member(next, n, "shows why", func(m localapi.Member) bool { return strings.Contains(m.Note, "drained by hand") })
	require.ErrorContains(t, next.Client().Handoff(t.Context(), ""), "nobody else is eligible")
	require.ErrorContains(t, next.Client().Handoff(t.Context(), n.Station), "drained by hand")
	require.NoError(t, n.Client().Undrain(t.Context()))
	s.status(n, "may lead again", func(st localapi.Status) bool { return st.Eligible && st.Role == "client" })
	s.stays(next, after.Epoch, time.Second)
}
