//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// A relay that an antivirus keeps unpacking for 25 s is waited for: the leader
// renews all the while, nobody takes over, and no second relay is started.
func TestCase_SlowRelay(t *testing.T) {
	t.Parallel()
	const delay = 25 * time.Second
	s := newSite(t, 3, map[string]string{"RELAY_ARGS": "standin -listen 0.0.0.0 -delay " + delay.String()})
	p := s.leader()
	first, ok := s.head()
	require.True(t, ok)
	require.Equal(t, "starting", p.status().Relay.State)
	s.await(2*delay, "the relay never listened", func() bool {
		r, ok := s.head()
		require.True(t, !ok || r.State == lease.Held && r.Owner == first.Owner && r.Epoch == first.Epoch, "rev %d: %s of %s", r.Rev, r.State, r.Station)
		lives := s.lives()
		require.Len(t, lives, 1)
		return lives[0].Listening > 0
	})
	last, ok := s.head()
	require.True(t, ok)
	require.GreaterOrEqual(t, last.Rev, first.Rev+5, "it renewed about every three seconds")
	life := s.lives()[0]
	require.GreaterOrEqual(t, life.Listening-life.First, delay)
	s.await(10*time.Second, "the relay is not said to run", func() bool { return p.status().Relay.State == "running" })
	st := p.status()
	require.Zero(t, st.Relay.Restarts)
	require.Zero(t, st.Relay.Failures)
	require.Equal(t, p, s.leader())
}
