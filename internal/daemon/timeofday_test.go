package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// On a busy machine the two clocks may be read long after each other: neither
// order may move a time, nor make a leader's clock look wrong.
func TestDaemon_TimeOfDayOnABusyMachine(t *testing.T) {
	start := time.Unix(1000, 0)
	for name, held := range map[string][2]time.Duration{
		"not held up": {}, "before the wall clock is read": {time.Second, 0}, "after it": {0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			boot := time.Minute
			d := &Daemon{}
			d.opt.now = func() time.Duration { return boot }
			d.opt.wall = func() time.Time {
				boot += held[0]
				wall := start.Add(boot)
				boot += held[1]
				held = [2]time.Duration{}
				return wall
			}
			require.Equal(t, start.Add(5*time.Second), d.timeOfDay(5*time.Second))
		})
	}
}
