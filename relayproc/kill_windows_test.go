package relayproc

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/procs"
)

// blow is what happens to one process: killed, or frozen.
type blow struct {
	who    string // daemon, guard, parent or listener
	frozen bool
}

// TestKill_AnythingAnyhow kills and freezes each process of the tree, alone and
// in pairs, except a frozen guard together with a daemon that is frozen or dead:
// that is a frozen host. Whatever was hit: no relay process lives past its
// deadline or without an owner, and the lock comes free.
func TestKill_AnythingAnyhow(t *testing.T) {
	cases := map[string][]blow{
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
	for name, blows := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			strike(t, blows)
		})
	}
}

func strike(t *testing.T, blows []blow) {
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
	for _, b := range blows {
		b.strike(t, who[b.who])
	}
	if !slices.ContainsFunc(blows, func(b blow) bool { return b.who == "daemon" }) {
		d.await(t, "down") // the daemon hears of it, and has nothing left
		require.Empty(t, relays(w.dir))
	}
	until := max(d.deadline(), clock.Boot())
	eventually(t, "the whole tree is dead", func() bool { return len(relays(w.dir)) == 0 })
	require.Less(t, w.lastAlive(), until+slack)
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
}

// strike does it. What the first blow of a pair ended is hit in vain.
func (b blow) strike(t *testing.T, pid int) {
	if b.frozen {
		require.NoError(t, procs.Freeze(pid))
		time.Sleep(100 * time.Millisecond) // its threads stop one after the other
		return
	}
	if p, ok := lookup(pid); ok {
		_ = killProcess(p)
	}
}
