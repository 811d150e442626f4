package localsite

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

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
