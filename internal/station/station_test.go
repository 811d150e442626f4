package station

import (
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
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
