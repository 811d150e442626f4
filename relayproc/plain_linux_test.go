package relayproc

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// worst is a relay that does everything to get away: its listener is double
// forked, in a session of its own and deaf, and its other child starts another
// and ends, again and again.
var worst = []string{"-shape", "double", "-own-session", "-ignore-term", "-restless", "20s"}

// TestPlain_NobodyGetsAway: without namespaces and without rights, whatever
// happens to daemon, guard and supervisor, nothing of the relay is left.
func TestPlain_NobodyGetsAway(t *testing.T) {
	for name, hit := range map[string]blows{
		"daemon killed":            {{"daemon", false}},
		"daemon frozen":            {{"daemon", true}},
		"guard killed":             {{"guard", false}},
		"guard frozen":             {{"guard", true}},
		"holder killed":            {{"holder", false}},
		"holder frozen":            {{"holder", true}, {"daemon", false}},
		"parent killed":            {{"parent", false}},
		"guard and holder killed":  {{"guard", true}, {"holder", false}, {"guard", false}},
		"holder and parent killed": {{"holder", false}, {"parent", false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHumbleWorld(t, worst...)
			strikeHumble(t, w, hit)
		})
	}
}

func strikeHumble(t *testing.T, w *world, hit blows) {
	d := w.startDaemon("will")
	who := map[string]int{
		"daemon": d.cmd.Process.Pid, "guard": d.await(t, "guard"), "parent": d.await(t, "started"),
	}
	d.await(t, "ready")
	who["holder"] = holderUnder(t, who["guard"])
	requireHumble(t, w, who["holder"])
	all := identifyAll(who)
	defer thaw(all)
	for _, b := range hit {
		if b == (blow{"daemon", false}) && !hit.anyOf("guard") {
			d.killed()
		}
		b.strike(t, who[b.who])
	}
	if !hit.anyOf("daemon") {
		d.await(t, "down") // a single look may miss what is being forked; the daemon looks again
	}
	eventually(t, "nothing of the relay is left", func() bool { return len(relays(w.dir)) == 0 })
	d.kill(t) // a frozen daemon reaps nobody; and now all it said was heard
	w.requireDeadBy(d.due())
	for _, port := range w.spec.ports() {
		eventually(t, "the ports are closed", func() bool { return len(listeners(port)) == 0 })
	}
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
	eventually(t, "no zombie stays", func() bool { return zombies(all) == 0 })
	time.Sleep(100 * time.Millisecond)
	require.Empty(t, relays(w.dir), "something came back")
}

// TestPlain_DeadlineIsKept: the same relay dies at its deadline, in the tree of
// a guard that lives.
func TestPlain_DeadlineIsKept(t *testing.T) {
	w := newWorld(t, worst...)
	w.spec.plain = true
	w.start(time.Hour)
	await[Ready](w, nil)
	until := clock.Boot() + 200*time.Millisecond
	w.guard.Until(2, until)
	require.Equal(t, Deadline, w.awaitDown().Cause)
	w.requireDeadBy(until)
}

// TestPlain_UsesACgroupItMayWrite: where the daemon's own control group may be
// divided, the relay is in one of its own, which is gone with it.
func TestPlain_UsesACgroupItMayWrite(t *testing.T) {
	own := delegated(t)
	w := newHumbleWorld(t, worst...)
	humble := w.humble
	w.humble = nil
	if humble != nil {
		w.humble = inCgroup(t, own, humble)
	}
	d := w.startDaemon("will")
	listener, guard := d.await(t, "ready"), d.await(t, "guard")
	group, err := os.ReadFile(procPath(listener, "cgroup"))
	require.NoError(t, err)
	require.Contains(t, string(group), "/"+cgroupPrefix+strconv.Itoa(guard)+"\n")
	freeze(t, d.cmd.Process.Pid)
	eventually(t, "nothing of the relay is left", func() bool { return len(relays(w.dir)) == 0 })
	eventually(t, "the group is gone", func() bool {
		left, err := filepath.Glob(filepath.Join(own, cgroupPrefix+"*"))
		return err == nil && len(left) == 0
	})
}

// delegated makes a control group that belongs to nobody; where there can be
// none, the test's own has to do.
func delegated(t *testing.T) string {
	base := ownCgroup()
	require.NotEmpty(t, base, "no cgroup2 is mounted")
	if os.Getuid() != 0 {
		return base
	}
	path, err := os.MkdirTemp(base, "relayproc-test-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o755))
	t.Cleanup(func() {
		eventually(t, "the group of the test is empty and gone", func() bool { return os.Remove(path) == nil })
	})
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		require.NoError(t, os.Chown(filepath.Join(path, name), nobody, nobody))
	}
	return path
}
