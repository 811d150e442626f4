package gossip

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A RELAY_TOKEN_OLD that is empty, or the token itself, is no key: anybody could
// derive one from nothing.
func TestHole15_EmptyOldTokenIsNoKey(t *testing.T) {
	nothing, err := newKeyPair("", "4711")
	require.NoError(t, err)
	for _, old := range []string{"", "secret"} {
		k, err := newKeys("secret", old, "4711")
		require.NoError(t, err)
		require.Len(t, k.ring.GetKeys(), 1)
		require.Len(t, k.pairs(), 1)
		require.Len(t, k.prints(), 1)
		for _, ring := range k.ring.GetKeys() {
			require.False(t, bytes.Equal(ring, nothing.gossip))
		}
		require.False(t, k.toggle())
		require.True(t, k.usesNew())
	}
	_, err = New(Config{Self: id(1), KMSN: "4711", AdvertiseAddr: "127.0.0.1"}, &recorder{})
	require.ErrorContains(t, err, "RELAY_TOKEN is empty")
}
