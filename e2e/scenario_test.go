//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// scenario is one fault of the network, the server or a PC.
type scenario struct {
	name  string
	pcs   int               // zero means four
	extra map[string]string // further keys of every stk.ini
	// run makes the fault, sees it through and heals it.
	run func(s *site) outcome
	// limit bounds the recovery, generously: a slow machine is no fault.
	limit time.Duration
	// frozen says that processes are stopped and resumed: what a relay does
	// between waking and its end is reported apart.
	frozen bool
}

// outcome is what one run showed.
type outcome struct {
	kept     bool          // the relay went on with its pid
	recovery time.Duration // from the fault, or what run says, to the new relay's listening
	both     time.Duration // two relays at once
}

// killMargin is KILL_MARGIN at the default FENCE: what a frozen relay may live
// after waking.
const killMargin = 200 * time.Millisecond

func TestScenarios(t *testing.T) {
	t.Run("faults", func(t *testing.T) {
		for _, sc := range scenarios {
			t.Run(sc.name, func(t *testing.T) {
				if !sc.frozen && *runs == 1 { // a figure of milliseconds wants the machine for itself
					t.Parallel()
				}
				for range *runs {
					t.Run("run", func(t *testing.T) {
						o := runOnce(t, sc)
						results.add(sc, o)
					})
				}
			})
		}
	})
	table := results.String()
	t.Log("\n" + table)
	if *out != "" {
		require.NoError(t, os.WriteFile(*out, []byte(table), 0o644))
	}
}

func runOnce(t *testing.T, sc scenario) outcome {
	s := newSite(t, max(sc.pcs, 4*b2i(sc.pcs == 0)), sc.extra)
	o := sc.run(s)
	s.lan.Heal()
	s.settle()
	o.both = s.bothRan(sc.frozen)
	if sc.frozen {
		require.LessOrEqual(t, o.both, killMargin, "a frozen relay lived too long after waking")
	} else {
		require.Zero(t, o.both, "two relays lived at the same time")
	}
	require.LessOrEqual(t, o.recovery, sc.limit)
	return o
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// recovers waits for a relay born after mark and says how long it took.
func (s *site) recovers(mark time.Duration) outcome {
	s.t.Logf("fault at %s", time.Now().Add(mark-clock.Boot()).UTC().Format("15:04:05.000"))
	s.t.Helper()
	s.await(90*time.Second, "no relay after the fault", func() bool { _, ok := s.born(mark); return ok })
	sp, _ := s.born(mark)
	return outcome{recovery: sp.Listening - mark}
}

// keeps lets the fault last and requires that the relay of p goes on with its
// pid all the while and after healing.
func (s *site) keeps(p *pc, lasts time.Duration, heal func()) outcome {
	s.t.Helper()
	mark, before := clock.Boot(), len(s.lives())
	watch := func(d time.Duration) {
		for begin := time.Now(); time.Since(begin) < d; time.Sleep(50 * time.Millisecond) {
			at, ok := lastBeat(p.lifeLog())
			require.True(s.t, ok && clock.Boot()-at < 2*time.Second, "the relay of %s stopped", p.station)
		}
	}
	watch(lasts)
	heal()
	watch(3 * time.Second)
	require.Len(s.t, s.lives(), before, "another relay was started")
	_, fresh := s.born(mark)
	require.False(s.t, fresh, "the relay was started again")
	return outcome{kept: true}
}

// table collects what the scenarios showed.
type table struct {
	mu    sync.Mutex
	rows  map[string][]outcome
	apart map[string]string // what the last column means there
}

var results = table{rows: map[string][]outcome{}, apart: map[string]string{}}

func (r *table) add(sc scenario, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sc.frozen {
		r.apart[sc.name] = " after waking"
	}
	r.rows[sc.name] = append(r.rows[sc.name], o)
}

func (r *table) String() string {
	var b strings.Builder
	b.WriteString("| fault | runs | relay back, median | max | two relays at once, max |\n|---|---|---|---|---|\n")
	for _, sc := range scenarios {
		name := sc.name
		if r.rows[name] == nil {
			continue
		}
		rows := r.rows[name]
		var took []time.Duration
		var both time.Duration
		kept := 0
		for _, o := range rows {
			kept += b2i(o.kept)
			took = append(took, o.recovery)
			both = max(both, o.both)
		}
		slices.Sort(took)
		median, most := show(took[len(took)/2]), show(took[len(took)-1])
		if kept == len(rows) {
			median, most = "kept its pid", "–"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %d ms%s |\n", name, len(rows), median, most, both.Milliseconds(), r.apart[name])
	}
	return b.String()
}

func show(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
