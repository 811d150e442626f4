package lease

import (
	"crypto/hkdf"
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"
)

// A RELAY_TOKEN_OLD that is empty is no key: a record that anybody could have
// signed is not believed.
func TestHole15_EmptyOldTokenIsNoKey(t *testing.T) {
	c, err := NewCodec("4711", "secret", "", "older", "")
	require.NoError(t, err)
	require.Len(t, c.keys, 2)
	nothing, err := hkdf.Key(sha256.New, nil, []byte("4711"), keyInfo, sha256.Size)
	require.NoError(t, err)
	require.NotContains(t, c.keys, nothing)
	_, err = NewCodec("4711", "", "older")
	require.Error(t, err)
}
