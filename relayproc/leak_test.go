package relayproc

import (
	"runtime"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
)

// leakRounds is how often each blow is struck before the count: a leak of one
// descriptor or goroutine in every round cannot be missed.
const leakRounds = 3

// TestKill_LeaksNothing: whatever kills or freezes the relay or its guard, a
// daemon that lives on for weeks keeps no descriptor and no goroutine of it.
func TestKill_LeaksNothing(t *testing.T) {
	w := newWorld(t, "-shape", "fork")
	all := []blows{{}} // an orderly end first
	for _, who := range []string{"guard", "parent", "listener"} {
		all = append(all, blows{{who, false}}, blows{{who, true}})
	}
	round := func(hit blows) {
		w.restart()
		for _, b := range hit {
			b.strike(t, w.processes()[b.who])
		}
		w.endOf(hit)
	}
	for _, hit := range all { // what is opened once and kept is open now
		round(hit)
	}
	for _, hit := range all {
		t.Run(hit.String(), func(t *testing.T) {
			open, running := openFiles(t), runtime.NumGoroutine()
			for range leakRounds {
				round(hit)
			}
			eventually(t, "as few goroutines as before", func() bool { return runtime.NumGoroutine() <= running })
			eventually(t, "as few descriptors as before", func() bool { return openFiles(t) <= open+openSlack })
		})
	}
}

// restart forgets the past and starts the relay anew, with the same guard's
// description.
func (w *world) restart() {
	w.mu.Lock()
	w.events = nil
	w.mu.Unlock()
	w.start(time.Hour)
	await[Ready](w, nil)
}

// endOf waits for the end after hit, as a daemon does that moves its deadline
// beat after beat. Of a frozen relay nothing is noticed: it is stopped.
func (w *world) endOf(hit blows) {
	w.t.Helper()
	if len(hit) == 0 || hit[0].frozen && hit[0].who != "guard" {
		w.guard.Kill()
	}
	seq := uint64(2)
	eventually(w.t, "the end is noticed", func() bool {
		w.guard.Until(seq, clock.Boot()+time.Hour)
		seq++
		_, down := w.last().(Down)
		return down
	})
	w.awaitDown()
	<-w.guard.Done()
}

func (w *world) last() Event {
	all := w.seen()
	if len(all) == 0 {
		return nil
	}
	return all[len(all)-1]
}
