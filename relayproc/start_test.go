package relayproc

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStart_RunsAndStops(t *testing.T) {
	for _, shape := range []string{"single", "fork", "double"} {
		for _, plain := range []bool{false, true} {
			name := shape
			if plain {
				name += "-plain"
			}
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, "-shape", shape)
				w.spec.plain = plain
				w.start(time.Hour)
				await[Started](w, nil)
				ready := await[Ready](w, nil)
				require.Contains(t, relays(w.dir), ready.PID)
				require.ErrorIs(t, ProbeLock(w.spec.LockPath), ErrLocked)
				w.guard.Stop(generous)
				require.Equal(t, Stopped, w.awaitDown().Cause, w)
			})
		}
	}
}
