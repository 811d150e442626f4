package freeport

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPairs(t *testing.T) {
	seen := map[int]bool{}
	for range 20 {
		ports, err := Pairs(3)
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
