package relayproc

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
			if i < 2 { // every run has both trees end by nothing but the guard's deadline
				hit, plain = blows{{"daemon", true}}, i == 1
			}
			shape := []string{"fork", "double"}[r.IntN(2)]
			wait := time.Duration(r.IntN(200)) * time.Millisecond
			t.Run(fmt.Sprintf("%d %v plain=%v %s", i, hit, plain, shape), func(t *testing.T) {
				t.Parallel()
				late.saw(strike(t, hit, plain, shape, wait))
			})
		}
	})
	t.Logf("the last sign of life of a relay came at most %v after its end was due", &late)
}

// holderUnder is the init or supervisor that a guard started.
func holderUnder(t *testing.T, guard int) int {
	below := descendants(guard)
	require.Greater(t, len(below), 1, "the guard holds nothing any more")
	return below[1]
}

// strike returns how long after its end was due the relay still gave a sign of
// life; negative if it died before.
func strike(t *testing.T, hit blows, plain bool, shape string, wait time.Duration) time.Duration {
	w := newWorld(t, "-shape", shape)
	w.spec.plain = plain
	d := w.startDaemon("will")
	who := map[string]int{
		"daemon": d.cmd.Process.Pid, "guard": d.await(t, "guard"),
		"parent": d.await(t, "started"), "listener": d.await(t, "ready"),
	}
	who["holder"] = holderUnder(t, who["guard"])
	all := identifyAll(who)
	defer thaw(all)
	time.Sleep(wait)
	for _, b := range hit {
		if b == (blow{"daemon", false}) && !hit.anyOf("guard") {
			d.killed()
		}
		b.strike(t, who[b.who])
	}
	outlast(w)
	if hit.anyOf("guard") && !hit.anyOf("daemon") {
		d.await(t, "down") // its daemon must not go before it: that pair is excepted, and what a dead guard left is its daemon's to kill
	}
	d.kill(t) // whatever still runs must go with its daemon
	eventually(t, "the whole tree is dead", func() bool { return len(relays(w.dir)) == 0 })
	late := w.requireDeadBy(d.due())
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
	eventually(t, "no zombie stays", func() bool { return zombies(all) == 0 })
	return late
}

// strike does it. The first blow of a pair may have killed the second's target.
func (b blow) strike(_ *testing.T, pid int) {
	sig := syscall.SIGKILL
	if b.frozen {
		sig = syscall.SIGSTOP
	}
	syscall.Kill(pid, sig)
}

// outlast waits for longer than a deadline, or until nothing of the relay is left.
func outlast(w *world) {
	end := time.Now().Add(daemonLife + 500*time.Millisecond)
	for time.Now().Before(end) && len(relays(w.dir)) > 0 {
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
