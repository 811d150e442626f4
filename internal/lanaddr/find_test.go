package lanaddr

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind_OnThisMachine(t *testing.T) {
	f, err := Find(context.Background(), Facts{}, "127.0.0.1:445", []string{"127.0.0.1", "no.such.host.invalid"})
	require.NoError(t, err)
	require.True(t, f.Own(ip("127.0.0.1")))
	require.Len(t, f.Routes, 2, "a name that cannot be looked up is left out")
	for _, r := range f.Routes {
		require.Equal(t, "127.0.0.1", r.Source.String())
		require.True(t, r.OnLink)
	}
	require.Equal(t, f.Cards, parseFacts(t, Facts{Cards: f.Cards}.String()).Cards, "what is printed is the whole of it")
}
