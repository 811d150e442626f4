package relayproc

import (
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// BenchmarkKillLatency measures from the deadline to the report that the tree
// is dead and both ports are closed, for a tree whose listener is a
// double-forked grandchild. The maximum has to stay below KILL_MARGIN (200 ms
// at the defaults).
func BenchmarkKillLatency(b *testing.B) {
	var took []time.Duration
	for range b.N {
		w := newWorld(b, "-shape", "double").start(time.Hour)
		await[Ready](w, nil)
		until := clock.Boot() + 100*time.Millisecond
		w.guard.Until(2, until)
		await[Down](w, nil)
		took = append(took, clock.Boot()-until)
		<-w.guard.Done()
	}
	report(b, took)
}

// BenchmarkStart measures what guard and supervision add to starting the relay
// by hand, until its port listens.
func BenchmarkStart(b *testing.B) {
	b.Run("by hand", func(b *testing.B) {
		var took []time.Duration
		for range b.N {
			w := newWorld(b)
			cmd := exec.Command(w.spec.Exe, w.spec.Args...)
			cmd.Env = append(cmd.Environ(), "RELAY_PORT="+strconv.Itoa(w.spec.Port))
			begin := clock.Boot()
			require.NoError(b, cmd.Start())
			for len(listeners(w.spec.Port)) == 0 {
				time.Sleep(time.Millisecond)
			}
			took = append(took, clock.Boot()-begin)
			cmd.Process.Kill()
			cmd.Wait()
		}
		report(b, took)
	})
	b.Run("guarded", func(b *testing.B) {
		var took []time.Duration
		for range b.N {
			w := newWorld(b)
			w.spec.Env = w.spec.Env[:1] // no life log, as by hand
			begin := clock.Boot()
			w.start(time.Hour)
			await[Ready](w, nil)
			took = append(took, clock.Boot()-begin)
			w.guard.Kill()
			<-w.guard.Done()
		}
		report(b, took)
	})
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2])/1e6, "median-ms")
	b.ReportMetric(float64(took[len(took)-1])/1e6, "max-ms")
}
