package daemon

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/lease"
)

func nodeName(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// shown is a site of n members as gossip shows it to the first of them; the
// last off of them are not up.
func shown(n, off int) (nodes []string, rows []gossip.Row) {
	for i := range n {
		r := gossip.Row{
			ID: lease.ID{Node: nodeName(i), Run: "0123456789ab"}, Self: i == 0, State: gossip.Alive,
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 7946),
		}
		if i >= n-off {
			r.State = gossip.Dead
		}
		nodes, rows = append(nodes, r.ID.Node), append(rows, r)
	}
	return nodes, rows
}

func files(nodes []string) (out []lease.Member) {
	for _, n := range nodes {
		out = append(out, lease.Member{Node: n, KMSN: "4711", Addrs: []string{"10.9.9.9"}, Port: 7946})
	}
	return out
}

func TestDiscovery_ReadsNobodyWhomGossipShows(t *testing.T) {
	p := &discovery{}
	nodes, rows := shown(200, 0)
	require.Empty(t, p.choose(nodes, rows, time.Now()))
	require.Len(t, p.candidates(), 199, "their addresses are known all the same")
}

func TestDiscovery_ReadsFewFilesAtATimeAndNoneTwice(t *testing.T) {
	p, now := &discovery{}, time.Now()
	nodes, rows := shown(200, 199)
	read := map[string]bool{}
	for range 20 {
		chosen := p.choose(nodes, rows, now)
		require.LessOrEqual(t, len(chosen), filesRound)
		for _, n := range chosen {
			require.False(t, read[n], "read a moment ago")
			read[n] = true
		}
		p.took(chosen, files(chosen), "4711", now)
		now = now.Add(membersEvery)
	}
	require.Len(t, read, 199)
	require.NotContains(t, read, nodes[0], "its own")
	require.Len(t, p.choose(nodes, rows, now.Add(2*memberFresh)), filesRound, "worth another look by now")
}

// A PC that is off is looked up again only after a while: it may have come back
// with another address and be unable to reach us.
func TestDiscovery_LooksAgainForWhoeverWentOff(t *testing.T) {
	p, now := &discovery{}, time.Now()
	nodes, rows := shown(5, 0)
	require.Empty(t, p.choose(nodes, rows, now))
	_, rows = shown(5, 1)
	require.Empty(t, p.choose(nodes, rows, now.Add(memberFresh-time.Second)))
	require.Equal(t, nodes[4:], p.choose(nodes, rows, now.Add(2*memberFresh)))
}

func TestDiscovery_IgnoresFilesOfOtherSites(t *testing.T) {
	p, now := &discovery{fixed: []string{"10.0.0.7"}}, time.Now()
	require.Empty(t, p.took([]string{nodeName(1)}, files([]string{nodeName(1)}), "another", now))
	require.Equal(t, []string{"10.0.0.7"}, p.candidates())
	require.Equal(t, []string{"10.9.9.9:7946"}, p.took([]string{nodeName(1)}, files([]string{nodeName(1)}), "4711", now))
	require.Equal(t, []string{"10.0.0.7", "10.9.9.9:7946"}, p.candidates())
}

func TestFilesPause_SparesTheShareOfALargeSite(t *testing.T) {
	require.Equal(t, 100*time.Millisecond, filesPause("", 0, time.Second), "no share yet")
	require.Equal(t, time.Second, filesPause("x", 0, time.Second), "alone")
	require.Equal(t, membersEvery, filesPause("x", 6, time.Second))
	require.Equal(t, 10*membersEvery, filesPause("x", 199, time.Second))
}
