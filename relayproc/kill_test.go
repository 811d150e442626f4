package relayproc

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// killsEnv raises the number of random kills; killSeedEnv repeats a run.
const (
	killsEnv    = "PROVE_KILLS"
	killSeedEnv = "PROVE_KILL_SEED"
)

// randomKills returns how many kills to draw, unless killsEnv says otherwise n,
// and the dice for them.
func randomKills(t *testing.T, n int) (int, *rand.Rand) {
	if v, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		n = v
	}
	seed := rand.Uint64()
	if v, err := strconv.ParseUint(os.Getenv(killSeedEnv), 10, 64); err == nil {
		seed = v
	}
	t.Logf("%s=%d", killSeedEnv, seed)
	return n, rand.New(rand.NewPCG(seed, 1))
}

// blow is what happens to one process: killed, or frozen.
type blow struct {
	who    string // daemon, guard, holder, parent or listener
	frozen bool
}

// blows are struck one after the other.
type blows []blow

func (all blows) String() string {
	if len(all) == 0 {
		return "an orderly end"
	}
	var out []string
	for _, b := range all {
		what := "killed"
		if b.frozen {
			what = "frozen"
		}
		out = append(out, b.who+" "+what)
	}
	return strings.Join(out, ", ")
}

// randomBlows draws one or two, but never a frozen guard together with a daemon
// that is frozen or dead: that counts as a frozen host.
func randomBlows(r *rand.Rand, who ...string) blows {
	for {
		var out blows
		var hit struct{ daemon, guardFrozen bool }
		for range 1 + r.IntN(2) {
			b := blow{who[r.IntN(len(who))], r.IntN(2) == 0}
			hit.daemon = hit.daemon || b.who == "daemon"
			hit.guardFrozen = hit.guardFrozen || b.who == "guard" && b.frozen
			out = append(out, b)
		}
		if !hit.daemon || !hit.guardFrozen {
			return out
		}
	}
}

// anyOf reports whether one of who was hit.
func (all blows) anyOf(who ...string) bool {
	return slices.ContainsFunc(all, func(b blow) bool { return slices.Contains(who, b.who) })
}

// latest is the worst overshoot past a deadline that a run of kills saw.
type latest struct{ ns atomic.Int64 }

func (l *latest) saw(d time.Duration) {
	for {
		old := l.ns.Load()
		if int64(d) <= old || l.ns.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

func (l *latest) String() string { return time.Duration(l.ns.Load()).String() }
