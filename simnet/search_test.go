package simnet

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	simSeed   = flag.Uint64("sim.seed", 0, "replay this one seed")
	simFrom   = flag.Uint64("sim.from", 1, "first seed of a search")
	simRuns   = flag.Int("sim.runs", 30, "seeds per mode")
	simMode   = flag.String("sim.mode", "", "only this mode")
	simTrace  = flag.Bool("sim.trace", false, "print every event and action")
	simShrink = flag.Bool("sim.shrink", false, "look for a shorter schedule that fails alike")
	simStory  = flag.Bool("sim.story", false, "print what happens in the large")
)

// TestSearch lets worlds of every mode live, or replays one.
func TestSearch(t *testing.T) {
	modes := Modes
	if *simMode != "" {
		modes = []Mode{Mode(*simMode)}
	}
	if *simSeed != 0 {
		require.NoError(t, replay(*simSeed, modes[0]))
		return
	}
	if *simMode == "" {
		modes = append(modes[:len(modes):len(modes)], Failover)
	}
	t.Run("worlds", func(t *testing.T) {
		for _, mode := range modes {
			t.Run(string(mode), func(t *testing.T) {
				t.Parallel()
				search(t, mode)
			})
		}
	})
	t.Log(total.line())
}

// totals adds up what the modes, which run side by side, have seen.
type totals struct {
	mu       sync.Mutex
	runs     int
	broken   int
	all      Stats
	failover time.Duration
}

var total totals

func (x *totals) add(mode Mode, runs, broken int, s Stats) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.runs += runs
	x.broken += broken
	x.all.add(s)
	if mode == Failover {
		x.failover = s.MaxGap
	}
}

// line is the report of a whole search. Without a broken promise there was no
// overlap either: that is the first of them.
func (x *totals) line() string {
	overlaps := "0 overlaps"
	if x.broken > 0 {
		overlaps = fmt.Sprintf("%d WORLDS BROKE A PROMISE", x.broken)
	}
	return fmt.Sprintf("simulation: %d runs, %.0f h simulated, %d takeovers, %s; worst failover of a dead host %v; "+
		"woke past the deadline %d times, beside another relay for at most %v; "+
		"relays of two folders beside each other for at most %v; "+
		"epochs used again in a new chain %d times, under two tokens %d times",
		x.runs, x.all.World.Hours(), x.all.Takeovers, overlaps, x.failover.Round(time.Millisecond), x.all.Excused, x.all.MaxExcused.Round(time.Millisecond),
		x.all.MaxFolders.Round(time.Millisecond), x.all.Reused, x.all.Fallen)
}

func replay(seed uint64, mode Mode) error {
	opt := Expand(seed, mode)
	if *simShrink {
		opt = Shrink(opt, func(o Options) error { return New(o).Run() })
	}
	w := New(opt)
	level := Story
	if *simTrace {
		level = Full
	}
	if *simTrace || *simStory {
		w.Trace(level, os.Stdout)
		fmt.Println(opt)
	} else {
		w.Trace(Full, nil)
	}
	return w.Run()
}

// mostBroken ends the search of a mode: a long search is worth going on after
// one failure, but not when the machine is plainly wrong.
const mostBroken = 5

// search lets worlds of one mode live and reports every one that fails.
func search(t *testing.T, mode Mode) {
	var sum Stats
	began, broken, done := time.Now(), 0, 0
	defer func() { total.add(mode, done, broken, sum) }()
	for i := range *simRuns {
		done++
		seed := *simFrom + uint64(i)
		w := New(Expand(seed, mode))
		if err := w.Run(); err != nil {
			assert.NoError(t, replay(seed, mode))
			if broken++; broken == mostBroken {
				t.Fatalf("%s: %d of %d worlds broke a promise, the rest was not searched", mode, broken, i+1)
			}
			continue
		}
		sum.add(w.Stats())
	}
	t.Logf("%s: %d runs, %.1f h simulated, %d events, %d takeovers, %d relays, excused %d (longest %v), worst failover %v, %v per run",
		mode, *simRuns, sum.World.Hours(), sum.Events, sum.Takeovers, sum.Relays, sum.Excused, sum.MaxExcused, sum.MaxGap, time.Since(began)/time.Duration(*simRuns))
}
