package station

import (
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

func TestFreePorts(t *testing.T) {
	seen := map[int]bool{}
	for range 20 {
		ports, err := FreePorts(3)
		require.NoError(t, err)
		for _, p := range ports {
			require.False(t, seen[p] || seen[p-1] || seen[p+1], "a pair is handed out once")
			seen[p] = true
			require.GreaterOrEqual(t, p, lowPort)
			require.Less(t, p+1, highPort)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	require.False(t, free(l.Addr().(*net.TCPAddr).Port))
}

func TestStation_Share(t *testing.T) {
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

func TestNode_Set(t *testing.T) {
	s, err := New(Options{Nodes: 1, Dir: t.TempDir(), Adjust: func(i int, keys map[string]string) { keys["RELAY_PRIORITY"] = strconv.Itoa(7 + i) }})
	require.NoError(t, err)
	n := s.Nodes[0]
	text := func() string {
		b, err := os.ReadFile(n.ConfigPath())
		require.NoError(t, err)
		return string(b)
	}
	require.Contains(t, text(), "RELAY_PRIORITY=7\r\n")
	require.NoError(t, n.Set(map[string]string{"RELAY_PRIORITY": "", "LEASE_TTL": "5s"}))
	require.NotContains(t, text(), "RELAY_PRIORITY")
	require.Contains(t, text(), "LEASE_TTL=5s\r\n")
	require.Contains(t, text(), "STATION=POS-01\r\n")
}
