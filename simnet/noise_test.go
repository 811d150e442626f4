package simnet

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	simDays  = flag.Float64("sim.days", 0.04, "simulated days of mere weather at the default figures")
	simTable = flag.Float64("sim.table", 0.003, "simulated days per row of the table of harsher weather")
)

// weather names one row of the noise table.
type weather struct {
	name   string
	change func(*Options)
}

// Weather that a site at the default figures must live through unchanged.
var fair = weather{"defaults: 1 % loss, share spikes to FENCE/3, pauses to 100 ms", func(*Options) {}}

var harsh = []weather{
	fair,
	{"5 % loss", func(o *Options) { o.Net.Loss = 0.05 }},
	{"20 % loss", func(o *Options) { o.Net.Loss = 0.2 }},
	{"share spikes to FENCE", func(o *Options) { o.Share.SpikeMax = o.Figures.Fence }},
	{"share spikes to 2 FENCE", func(o *Options) { o.Share.SpikeMax = 2 * o.Figures.Fence }},
	{"pauses to 500 ms", func(o *Options) { o.Proc.FreezeMax = 500 * time.Millisecond }},
	{"pauses to 2 s", func(o *Options) { o.Proc.FreezeMax = 2 * time.Second }},
	{"all three: 5 % loss, spikes to FENCE, pauses to 500 ms", func(o *Options) {
		o.Net.Loss, o.Share.SpikeMax, o.Proc.FreezeMax = 0.05, o.Figures.Fence, 500*time.Millisecond
	}},
	{"FENCE 350 ms, quiet: no loss, no spikes, pauses to 50 ms", func(o *Options) {
		quick(o)
		o.Net.Loss, o.Share.Spike, o.Proc.FreezeMax = 0, 0, 50*time.Millisecond
	}},
	{"FENCE 350 ms, 1 % loss, spikes to FENCE/3, pauses to 100 ms", func(o *Options) { quick(o) }},
	{"FENCE 350 ms, 5 % loss, spikes to FENCE, pauses to 200 ms", func(o *Options) {
		quick(o)
		o.Net.Loss, o.Share.SpikeMax, o.Proc.FreezeMax = 0.05, o.Figures.Fence, 200*time.Millisecond
	}},
}

// quick sets the fast figures for a quiet LAN.
func quick(o *Options) {
	o.Figures.Fence, o.Figures.Beat = 350*time.Millisecond, 70*time.Millisecond
	o.Share.SpikeMax = o.Figures.Fence / 3
}

// blow lets a world live in some weather and counts relays that started or
// ended once the first one ran. Worlds are cut into pieces of six hours, each
// with its own seed: 2 to 8 nodes, clocks up to 0.5 % apart.
func blow(t *testing.T, w weather, days float64) (changes int) {
	t.Helper()
	const piece = 6 * time.Hour
	left := time.Duration(days * 24 * float64(time.Hour))
	for seed := uint64(1); left > 0; seed++ {
		o := Expand(seed, Noise)
		w.change(&o)
		o.Safety = min(left, piece)
		left -= piece
		world := New(o)
		for _, h := range world.hosts {
			world.startFirst(h)
		}
		world.run(30 * time.Second)
		before := world.checker.changes
		world.run(o.Safety)
		require.NoError(t, world.failure())
		changes += world.checker.changes - before
		if seed%4 == 0 {
			t.Logf("%s: %d changes in %d days", w.name, changes, seed/4)
		}
	}
	return changes
}

// failure is the violation as an error, or nil.
func (w *World) failure() error {
	if w.failed == nil {
		return nil
	}
	return w.failed
}

// Weather alone changes nothing at the default figures.
func TestWorld_WeatherChangesNothing(t *testing.T) {
	require.Zero(t, blow(t, fair, *simDays))
	t.Logf("noise: 0 changes in %.2f simulated days", *simDays)
}

// What harsher weather costs: relays that started or ended per simulated week.
// Overlaps are still violations.
func TestWorld_HarsherWeather(t *testing.T) {
	days := *simTable
	var table strings.Builder
	for _, w := range harsh {
		n := blow(t, w, days)
		row := fmt.Sprintf("| %s | %d | %.1f |", w.name, n, float64(n)*7/days)
		t.Log(row)
		fmt.Fprintln(&table, row)
	}
	t.Logf("%.3g simulated days per row: weather, changes, changes per week\n%s", days, table.String())
}
