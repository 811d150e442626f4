package relayproc

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// TestKill_AnythingAnyhow kills and freezes whatever there is. Whatever was
// hit: no relay process lives past its deadline, none stays without an owner,
// nothing stays as a zombie, and the lock comes free.
func TestKill_AnythingAnyhow(t *testing.T) {
	n, r := randomKills(t, 20)
	var late latest
	t.Run("group", func(t *testing.T) {
		for i := range n {
			hit := randomBlows(r, "daemon", "guard", "holder", "parent", "listener")
			plain := r.IntN(3) == 0
			shape := []string{"fork", "double"}[r.IntN(2)]
			wait := time.Duration(r.IntN(200)) * time.Millisecond
			t.Run(fmt.Sprintf("%d %v plain=%v %s", i, hit, plain, shape), func(t *testing.T) {
				t.Parallel()
				late.saw(strike(t, hit, plain, shape, wait))
			})
		}
	})
	t.Logf("the last sign of life of a relay came at most %v after its deadline", &late)
}

// strike returns how long after its deadline the relay still gave a sign of
// life; negative if it died before.
func strike(t *testing.T, hit blows, plain bool, shape string, wait time.Duration) time.Duration {
	w := newWorld(t, "-shape", shape)
	w.spec.plain = plain
	d := w.startDaemon("will")
	who := map[string]int{
		"daemon": d.cmd.Process.Pid, "guard": d.await(t, "guard"),
		"parent": d.await(t, "started"), "listener": d.await(t, "ready"),
	}
	who["holder"] = descendants(who["guard"])[1]
	all := identifyAll(who)
	defer thaw(all)
	time.Sleep(wait)
	for _, b := range hit {
		sig := syscall.SIGKILL
		if b.frozen {
			sig = syscall.SIGSTOP
		}
		syscall.Kill(who[b.who], sig) // the first blow may have killed the second's target
	}
	checkOwned(t, w, d, who)
	if slices.Contains(hit, blow{"guard", true}) {
		d.await(t, "down") // its daemon must not go before it: that pair is excepted
	}
	d.cmd.Process.Kill() // whatever still runs must go with its daemon
	until := max(d.deadline(), clock.Boot())
	eventually(t, "the whole tree is dead", func() bool { return len(relays(w.dir)) == 0 })
	require.Less(t, w.lastAlive(), until+slack)
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
	eventually(t, "no zombie stays", func() bool { return zombies(all) == 0 })
	return w.lastAlive() - d.deadline()
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
func zombies(all []process) int {
	n := 0
	for _, p := range all {
		if s, ok := readStat(p.PID); ok && s.state == 'Z' && s.start == p.Start {
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
