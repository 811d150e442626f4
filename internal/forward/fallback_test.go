package forward

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// without is a PC of a site that has no relay and a fallback.
func without(t *testing.T, hold time.Duration) (*rig, *relay) {
	t.Helper()
	cloud := relayAt(t, freePair(t), "cloud")
	return serving(t, Options{Hold: hold, FallbackHost: Host, FallbackPort: cloud.Port}), cloud
}

func TestFallback_AfterTheHoldAndBack(t *testing.T) {
	const hold = 300 * time.Millisecond
	r, _ := without(t, hold)
	r.Follow(Target{Epoch: 1, Station: "POS-01", Host: Host, Port: freePair(t)}) // leads and does not serve
	from := time.Now()
	c := r.program(0)
	greets(t, c, "cloud")
	require.GreaterOrEqual(t, time.Since(from), hold-50*time.Millisecond)
	require.EqualValues(t, 1, r.Stats().Fallback)

	t.Run("a PC that leads without a relay ends nothing", func(t *testing.T) {
		r.Follow(Target{Epoch: 2, Station: "POS-02", Host: Host, Port: freePair(t)})
		time.Sleep(2 * probeEvery)
		goesOn(t, c)
	})
	t.Run("one that serves does", func(t *testing.T) {
		site := relayAt(t, freePair(t), "site")
		r.Follow(site.epoch(3))
		ends(t, c)
		greets(t, r.program(0), "site")
		r.until("nobody uses the fallback", func() bool { return r.Stats().Fallback == 0 })
	})
}

// The hold is that of the site: who comes when it has long had no relay is not
// held again.
func TestFallback_WhoComesLaterIsNotHeld(t *testing.T) {
	r, _ := without(t, 2*time.Second)
	greets(t, r.program(0), "cloud")
	from := time.Now()
	greets(t, r.program(0), "cloud")
	require.Less(t, time.Since(from), time.Second)
}

// A relay that the site has again is found by who comes, although nobody has
// used the fallback meanwhile.
func TestFallback_TheSitesRelayIsTriedFirst(t *testing.T) {
	r, _ := without(t, 100*time.Millisecond)
	port := freePair(t)
	r.Follow(Target{Epoch: 1, Station: "POS-01", Host: Host, Port: port})
	c := r.program(0)
	greets(t, c, "cloud")
	c.Close()
	r.until("nobody uses the fallback", func() bool { return r.Stats().Fallback == 0 })
	relayAt(t, port, "site")
	greets(t, r.program(0), "site")
}

// A fallback that does not answer either is said with the address's error.
func TestFallback_IsNotThereEither(t *testing.T) {
	r, cloud := without(t, 50*time.Millisecond)
	cloud.close()
	ends(t, r.program(0))
	r.until("it is counted", func() bool { return r.Stats().Late == 1 })
	require.Equal(t, 1, r.logs.FilterMessageSnippet("the fallback RELAY_HOST was not either").Len())
}
