package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// coarse is the longest step of any of the clocks, with room for a busy machine.
const coarse = 100 * time.Millisecond

func TestBoot_GoesOnAndNeverBack(t *testing.T) {
	first, began := Boot(), time.Now()
	require.Positive(t, first)
	last := first
	for last == first {
		now := Boot()
		require.GreaterOrEqual(t, now, last)
		require.Less(t, time.Since(began), generous, "it stands still")
		last = now
	}
	for range 1000 {
		now := Boot()
		require.GreaterOrEqual(t, now, last)
		last = now
	}
	require.InDelta(t, time.Since(began), Boot()-first, float64(coarse), "it counts in another unit")
}

// generous bounds the wait for the clock's next step.
const generous = 10 * time.Second
