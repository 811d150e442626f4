package relayproc

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/procs"
)

// TestKill_AnythingAnyhow kills and freezes each process of the tree, alone and
// in pairs, except a frozen guard together with a daemon that is frozen or dead:
// that is a frozen host. Whatever was hit: no relay process lives past its
// deadline or without an owner, and the lock comes free.
func TestKill_AnythingAnyhow(t *testing.T) {
	cases := map[string]blows{
		"daemon killed":                  {{"daemon", false}},
		"daemon frozen":                  {{"daemon", true}},
		"guard killed":                   {{"guard", false}},
		"guard frozen":                   {{"guard", true}},
		"parent killed":                  {{"parent", false}},
		"listener killed":                {{"listener", false}},
		"daemon and guard killed":        {{"daemon", false}, {"guard", false}},
		"daemon frozen, guard killed":    {{"daemon", true}, {"guard", false}},
		"listener frozen, daemon killed": {{"listener", true}, {"daemon", false}},
		"parent frozen, guard killed":    {{"parent", true}, {"guard", false}},
	}
	n, r := randomKills(t, 12)
	for i := range n {
		hit := randomBlows(r, "daemon", "guard", "parent", "listener")
		cases[fmt.Sprintf("random %d: %v", i, hit)] = hit
	}
	var late latest
	t.Run("group", func(t *testing.T) {
		for name, hit := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				late.saw(strike(t, hit))
			})
		}
	})
	t.Logf("the last sign of life of a relay came at most %v after its end was due", &late)
}

// strike returns how long after its end was due the relay still gave a sign of
// life; negative if it died before.
func strike(t *testing.T, hit blows) time.Duration {
	w := newWorld(t, "-shape", "fork")
	d := w.startDaemon("will")
	defer func() {
		if t.Failed() {
			d.mu.Lock()
			defer d.mu.Unlock()
			t.Logf("the daemon said %v", d.said)
		}
	}()
	who := map[string]int{"daemon": d.cmd.Process.Pid, "guard": d.await(t, "guard"), "parent": d.await(t, "started")}
	d.await(t, "ready")
	for _, pid := range relays(w.dir) { // its port may not say who owns it
		if pid != who["parent"] {
			who["listener"] = pid
		}
	}
	require.NotZero(t, who["listener"])
	for _, b := range hit {
		if b == (blow{"daemon", false}) && !hit.anyOf("guard") {
			d.killed()
		}
		b.strike(t, who[b.who])
	}
	if hit.noticed() {
		d.await(t, "down") // the daemon hears of it, and has nothing left
		require.Empty(t, relays(w.dir))
	} else if !hit.anyOf("daemon") {
		d.kill(t) // whatever still runs must go with its daemon
	}
	eventually(t, "the whole tree is dead", func() bool { return len(relays(w.dir)) == 0 })
	late := w.requireDeadBy(d.due())
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
	return late
}

// noticed reports whether a daemon that was not hit itself must notice. A relay
// that is frozen still accepts.
func (all blows) noticed() bool {
	return !all.anyOf("daemon") && slices.ContainsFunc(all, func(b blow) bool { return b.who == "guard" || !b.frozen })
}

// strike does it. What the first blow of a pair ended is hit in vain.
func (b blow) strike(t *testing.T, pid int) {
	if b.frozen {
		if err := procs.Freeze(pid); err != nil {
			_, alive := lookup(pid)
			require.False(t, alive, "freeze %s: %v", b.who, err)
		}
		time.Sleep(100 * time.Millisecond) // its threads stop one after the other
		return
	}
	if p, ok := lookup(pid); ok {
		_ = killProcess(p)
	}
}
