package simnet

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// bound is how long after the last disturbance a relay must run again: TTL_MAX' +
// POLL + 2 s.
const bound = 20420*ms + 2*sec + 2*sec

// TestHole plants files that prove nothing in every way that was found to end the
// promise, and some siblings: never two relays, one again within the bound while the
// thing lies there, and no trace of it within the bound after it is gone.
func TestHole(t *testing.T) {
	restartOne := func(s *Script) *Script { return s.At(25 * sec).Kill("C").At(27 * sec).Start("C") }
	alone := func(s *Script) *Script { return restartOne(s.At(24*sec).Split("C", "AB")) }
	die := func(s *Script) *Script { return s.At(26 * sec).PowerOff("A") }
	all := func(s *Script) *Script { return s.At(26 * sec).RestartAll() }
	for name, tc := range map[string]struct {
		plant func(*Script) *Script
		then  func(*Script) *Script
	}{
		"1 far stray, one restarts":             {far(Garbage, 5000), restartOne},
		"1 far stray, one restarts without LAN": {far(Garbage, 5000), alone},
		"1 nearer stray, without LAN":           {far(Garbage, 1100), alone},
		"1 stray at the end, without LAN":       {far(Garbage, lease.MaxRev-1), alone},
		"1 far empty name, without LAN":         {far(NoRecord, 5000), alone},
		"1 far newer, without LAN":              {far(Newer, 5000), alone},
		"1 far foreign, without LAN":            {far(Stranger, 5000), alone},
		"2 stray at the end, all restart":       {far(Garbage, lease.MaxRev-1), all},
		"2 the last name, all restart":          {far(Garbage, lease.MaxRev), all},
		"2 two neighbours at the end":           {pair(lease.MaxRev - 1), die},
		"2 two neighbours, all restart":         {pair(lease.MaxRev - 1), all},
		"2 two neighbours elsewhere":            {pair(70_000), die},
		"3 newer above the head":                {near(Newer, 1), die},
		"3 newer, all restart":                  {near(Newer, 1), all},
		"3 foreign above the head":              {near(Stranger, 1), die},
		"3 foreign, all restart":                {near(Stranger, 1), all},
		"3 garbage above the head":              {near(Garbage, 1), die},
		"3 empty, some above the head":          {near(NoRecord, 300), die},
		"3 empty, some above, all restart":      {near(NoRecord, 300), all},
	} {
		for _, gone := range []time.Duration{0, 3 * sec} { // it lies there for good, or is deleted soon
			t.Run(fmt.Sprintf("%s, gone after %v", name, gone), func(t *testing.T) {
				t.Parallel()
				s := NewScript(3)
				tc.then(tc.plant(s.At(20 * sec)))
				last := 28 * sec
				if gone > 0 {
					s.At(last + gone).Uproot()
					last += gone
				}
				require.NoError(t, s.Run(last+bound))
				require.NotEmpty(t, s.Leader(), "no relay %v after the last disturbance", bound)
				changes := s.checker.changes
				require.NoError(t, s.Run(last+bound+60*sec))
				require.Equal(t, changes, s.checker.changes, "the relay changed hands long after")
			})
		}
	}
}

func far(what string, rev uint64) func(*Script) *Script {
	return func(s *Script) *Script { return s.Plant(what, rev) }
}

func near(what string, step uint64) func(*Script) *Script {
	return func(s *Script) *Script { return s.PlantAbove(what, step) }
}

func pair(rev uint64) func(*Script) *Script {
	return func(s *Script) *Script { return s.Plant(Garbage, rev).Plant(Garbage, rev-1) }
}
