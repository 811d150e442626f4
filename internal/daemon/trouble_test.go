package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
)

var running = arbiter.Status{Role: arbiter.Leader, Relay: arbiter.RelayRunning}

func down(cause arbiter.DownCause, note string) arbiter.Event {
	return arbiter.RelayDown{Cause: cause, Note: note}
}

// utc tells a time of day of which the boot time is the second.
func utc(at time.Duration) time.Time { return time.Unix(0, int64(at)).UTC() }

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

func TestTrouble_CountsFailuresInARow(t *testing.T) {
	var tr trouble
	require.Zero(t, tr.look(0))
	now := time.Hour
	for i, pause := range []time.Duration{0, 1, 2, 4, 8, 15, 15} {
		tr.saw(now, running, arbiter.RelayReady{})
		tr.saw(now, running, down(arbiter.DownExited, "exit code 3"))
		f := tr.look(now)
		require.Equal(t, i+1, f.row)
		require.Equal(t, "exit code 3", f.why)
		if pause == 0 {
			require.Zero(t, f.next, "the first start is at once")
			continue
		}
		require.Equal(t, now+pause*time.Second, f.next)
		now = f.next
		require.Zero(t, tr.look(now).next, "that start is due now")
	}
}

func TestTrouble_WhatIsNoFailure(t *testing.T) {
	stopping := running
	stopping.Relay = arbiter.RelayStopping
	for name, tt := range map[string]struct {
		status arbiter.Status
		cause  arbiter.DownCause
	}{
		"a stop":                      {running, arbiter.DownStopped},
		"a deadline":                  {running, arbiter.DownDeadline},
		"a lost guard":                {running, arbiter.DownGuard},
		"an exit while being stopped": {stopping, arbiter.DownExited},
	} {
		t.Run(name, func(t *testing.T) {
			var tr trouble
			tr.saw(time.Hour, tt.status, down(tt.cause, "x"))
			require.Zero(t, tr.look(time.Hour).row)
		})
	}
}

func TestTrouble_IsForgotten(t *testing.T) {
	fail := func(tr *trouble, n int) {
		for range n {
			tr.saw(time.Hour, running, down(arbiter.DownUnready, "stopped answering"))
		}
	}
	t.Run("after a minute of service", func(t *testing.T) {
		var tr trouble
		fail(&tr, 5)
		tr.saw(time.Hour, running, arbiter.RelayReady{})
		require.Equal(t, 5, tr.look(time.Hour+calmAfter-1).row)
		require.Zero(t, tr.look(time.Hour+calmAfter).row)
	})
	t.Run("not by waiting for the next start", func(t *testing.T) {
		var tr trouble
		fail(&tr, 5)
		require.Equal(t, 5, tr.look(2*time.Hour).row)
	})
	t.Run("when the lease was handed over for it", func(t *testing.T) {
		var tr trouble
		fail(&tr, 2)
		tr.left()
		require.Equal(t, 2, tr.look(time.Hour).row)
		fail(&tr, 1)
		tr.left()
		require.Zero(t, tr.look(time.Hour).row)
	})
}

func TestFailures_Note(t *testing.T) {
	require.Empty(t, failures{}.note(utc))
	require.Empty(t, failures{row: 1, why: "exit code 3"}.note(utc), "started again before anybody looks")
	require.Equal(t, "the relay failed 4 times in a row, last at 00:00:07 (exit code 3); next try at 00:00:11",
		failures{row: 4, why: "exit code 3", at: 7 * time.Second, next: 11 * time.Second}.note(utc))
	require.Equal(t, "the relay failed 2 times in a row, last at 00:00:07 (exit code 3)",
		failures{row: 2, why: "exit code 3", at: 7 * time.Second}.note(utc))
}

// What the note says can be read back, also where gossip cut it short.
func TestFailing_ReadsTheNote(t *testing.T) {
	clock := func(d time.Duration) time.Time { return time.Unix(0, 0).UTC().Add(d) }
	note := failures{row: 9, why: "exit code 0 (see the log)", at: 7 * time.Second, next: 11 * time.Second}.note(clock)
	for in, want := range map[string]string{
		note:                                "9 times in a row: exit code 0 (see the log)",
		note + "; its token differs":        "9 times in a row: exit code 0 (see the log)",
		"drained; " + note:                  "9 times in a row: exit code 0 (see the log)",
		"the relay failed 3 times in a row": "3 times in a row",
		"the relay failed 3 times in a row, last at 00:00:07 (exit": "3 times in a row: exit",
		"starting": "", "": "",
	} {
		require.Equal(t, want, Failing(in), in)
	}
}
