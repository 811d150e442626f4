package relayproc

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// killsEnv raises the number of random kills; killSeedEnv repeats a run.
const (
	killsEnv    = "FLOATRELAY_KILLS"
	killSeedEnv = "FLOATRELAY_KILL_SEED"
)

// blow is one signal to one process of the tree.
type blow struct {
	who string // daemon, guard, holder, parent or listener
	sig syscall.Signal
}

func (b blow) String() string { return fmt.Sprintf("%v to %s", b.sig, b.who) }

// randomBlows draws one or two, but never a frozen guard together with a daemon
// that is frozen or dead: that counts as a frozen host.
func randomBlows(r *rand.Rand) []blow {
	who := []string{"daemon", "guard", "holder", "parent", "listener"}
	sigs := []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP}
	for {
		var out []blow
		hit := map[string]syscall.Signal{}
		for range 1 + r.IntN(2) {
			b := blow{who[r.IntN(len(who))], sigs[r.IntN(len(sigs))]}
			hit[b.who] = b.sig
			out = append(out, b)
		}
		if hit["guard"] != syscall.SIGSTOP || hit["daemon"] == 0 {
			return out
		}
	}
}

// TestKill_AnythingAnyhow kills and freezes whatever there is. Whatever was
// hit: no relay process lives past its deadline, none stays without an owner,
// nothing stays as a zombie, and the lock comes free.
func TestKill_AnythingAnyhow(t *testing.T) {
	n := 20
	if v, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		n = v
	}
	seed := rand.Uint64()
	if v, err := strconv.ParseUint(os.Getenv(killSeedEnv), 10, 64); err == nil {
		seed = v
	}
	r := rand.New(rand.NewPCG(seed, 1))
	t.Logf("%s=%d", killSeedEnv, seed)
	t.Run("group", func(t *testing.T) {
		for i := range n {
			blows := randomBlows(r)
			plain := r.IntN(3) == 0
			shape := []string{"fork", "double"}[r.IntN(2)]
			wait := time.Duration(r.IntN(200)) * time.Millisecond
			t.Run(fmt.Sprintf("%d %v plain=%v %s", i, blows, plain, shape), func(t *testing.T) {
				t.Parallel()
				strike(t, blows, plain, shape, wait)
			})
		}
	})
}

func strike(t *testing.T, blows []blow, plain bool, shape string, wait time.Duration) {
	w := newWorld(t, "-shape", shape)
	w.spec.plain = plain
	d := w.startDaemon("will")
	who := map[string]int{
		"daemon": d.cmd.Process.Pid, "guard": d.await(t, "guard"),
		"parent": d.await(t, "started"), "listener": d.await(t, "ready"),
	}
	who["holder"] = descendants(who["guard"])[1]
	defer thaw(identifyAll(who))
	time.Sleep(wait)
	for _, b := range blows {
		syscall.Kill(who[b.who], b.sig) // the first blow may have killed the second's target
	}
	checkOwned(t, w, d, who)
	if slices.Contains(blows, blow{"guard", syscall.SIGSTOP}) {
		d.await(t, "down") // its daemon must not go before it: that pair is excepted
	}
	d.cmd.Process.Kill() // whatever still runs must go with its daemon
	until := max(d.deadline(), clock.Boot())
	eventually(t, "the whole tree is dead", func() bool { return len(relays(w.dir)) == 0 })
	require.Less(t, w.lastAlive(), until+slack)
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
	eventually(t, "no zombie stays", func() bool { return zombies(who) == 0 })
}

// checkOwned watches for longer than a deadline: as long as a relay runs, its
// daemon has claimed it lately.
func checkOwned(t *testing.T, w *world, d *daemonProc, who map[string]int) {
	end := time.Now().Add(daemonLife + 500*time.Millisecond)
	for time.Now().Before(end) && len(relays(w.dir)) > 0 {
		require.Less(t, w.lastAlive(), d.deadline()+slack, "a relay lives past its deadline; %v", who)
		time.Sleep(20 * time.Millisecond)
	}
}

// zombies counts those of our processes that are dead and not reaped.
func zombies(who map[string]int) int {
	n := 0
	for _, pid := range who {
		if s, ok := readStat(pid); ok && s.state == 'Z' && strings.Contains(s.comm, "relayproc") {
			n++
		}
	}
	return n
}

func identifyAll(who map[string]int) []process {
	var out []process
	for _, pid := range who {
		if p, ok := lookup(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

// thaw ends what a failed run may have left frozen.
func thaw(all []process) {
	for _, p := range all {
		killProcess(p)
	}
}

// TestKill_LeaksNothing: a daemon that restarts its relay for weeks keeps no
// descriptor of the past.
func TestKill_LeaksNothing(t *testing.T) {
	w := newWorld(t)
	round := func() {
		w.mu.Lock()
		w.events = nil
		w.mu.Unlock()
		w.start(time.Hour)
		await[Ready](w, nil)
		w.guard.Kill()
		w.awaitDown()
		<-w.guard.Done()
	}
	round()
	before := openFiles(t)
	for range 5 {
		round()
	}
	eventually(t, "as few descriptors as before", func() bool { return openFiles(t) <= before })
}

func openFiles(t *testing.T) int {
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(names)
}
