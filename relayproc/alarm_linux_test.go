package relayproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// kernelBound is how long after its deadline a relay may live whose guard and
// daemon are both stopped.
const kernelBound = 20 * time.Millisecond

// stoppedEnv sets how often both are stopped for each of two shapes of a relay.
const stoppedEnv = "PROVE_STOPPED"

// stopBoth stops daemon and guard and returns the deadline that was in force.
func stopBoth(t *testing.T, d *daemonProc) time.Duration {
	guard := d.await(t, "guard")
	d.await(t, "ready")
	freeze(t, d.cmd.Process.Pid)
	freeze(t, guard)
	return d.due()
}

// TestR7_TheKernelHoldsTheDeadline: daemon and guard are stopped together, and
// the relay is gone shortly after its deadline.
func TestR7_TheKernelHoldsTheDeadline(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv(stoppedEnv))
	if err != nil {
		rounds = 2
	}
	for round := range rounds {
		for _, shape := range []string{"single", "double"} {
			t.Run(fmt.Sprint(shape, " ", round), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "-shape", shape, "-ignore-term")
				due := stopBoth(t, w.startDaemon("will"))
				eventually(t, "nothing of the relay is left", func() bool { return len(relays(w.dir)) == 0 })
				last := w.lastAlive()
				t.Logf("%v after the deadline", last-due)
				requireWithin(t, kernelBound, due, last)
				eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
			})
		}
	}
}

// TestR7_WithoutNamespaces: the supervisor sees the guard's end and ends what the
// relay started, within KILL_MARGIN.
func TestR7_WithoutNamespaces(t *testing.T) {
	w := newWorld(t, "-shape", "double", "-own-session", "-ignore-term")
	w.spec.plain = true
	due := stopBoth(t, w.startDaemon("will"))
	eventually(t, "nothing of the relay is left", func() bool { return len(relays(w.dir)) == 0 })
	w.requireDeadBy(due)
}

// TestR7_WithoutNamespacesAllStopped: the supervisor is stopped as well, and the
// relay's first process goes with it.
func TestR7_WithoutNamespacesAllStopped(t *testing.T) {
	w := newWorld(t)
	w.spec.plain = true
	d := w.startDaemon("will")
	guard := d.await(t, "guard")
	d.await(t, "ready")
	holder := descendants(guard)[1]
	freeze(t, d.cmd.Process.Pid)
	freeze(t, holder)
	freeze(t, guard)
	eventually(t, "nothing of the relay is left", func() bool { return len(relays(w.dir)) == 0 })
	w.requireDeadBy(d.due())
}

// TestR7_TheDaemonIsTold: a guard that the kernel ended at its deadline is not
// taken for one that was lost.
func TestR7_TheDaemonIsTold(t *testing.T) {
	w := newWorld(t).start(time.Hour)
	await[Ready](w, nil)
	until := clock.Boot() + 300*time.Millisecond
	w.guard.Until(2, until)
	if w.acked(2) {
		_ = syscall.Kill(w.guard.PID(), syscall.SIGSTOP)
	}
	require.Equal(t, Deadline, w.awaitDown().Cause)
	requireWithin(t, 2*kernelBound, until, w.lastAlive())
}

// TestR7_AFrozenControlGroup: daemon, guard and relay stand still in a frozen
// control group past the deadline. None of the relay runs on after thawing.
func TestR7_AFrozenControlGroup(t *testing.T) {
	for _, c := range freezers(t) {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, "-shape", "double")
			d := w.startDaemon("will")
			d.await(t, "ready")
			all := append(descendants(d.cmd.Process.Pid), relays(w.dir)...)
			for _, pid := range all {
				c.write(t, "cgroup.procs", strconv.Itoa(pid))
			}
			c.write(t, c.file, c.frozen)
			defer c.write(t, c.file, c.thawed)
			due := d.due()
			eventually(t, "the deadline has passed", func() bool { return clock.Boot() > due+500*time.Millisecond })
			thaw := clock.Boot()
			c.write(t, c.file, c.thawed)
			eventually(t, "nothing of the relay is left", func() bool { return len(relays(w.dir)) == 0 })
			if last := w.lastAlive(); last > due {
				t.Logf("%v after thawing", last-thaw)
				requireWithin(t, kernelBound, thaw, last)
			}
			d.kill(t)
		})
	}
}

// freezer is a control group of this test that can be frozen whole.
type freezer struct{ name, dir, file, frozen, thawed string }

func (f freezer) write(t *testing.T, name, value string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, name), []byte(value), 0o644))
}

// freezers makes a group of each kind that this system lets the test make.
func freezers(t *testing.T) (all []freezer) {
	kinds := []freezer{
		{"version 2", ownCgroup(), "cgroup.freeze", "1", "0"},
		{"version 1", "/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"},
	}
	for _, f := range kinds {
		dir, err := os.MkdirTemp(f.dir, "relayproc-test-")
		if f.dir == "" || err != nil {
			t.Logf("NOT SHOWN: a control group of %s cannot be made here: %v", f.name, err)
			continue
		}
		t.Cleanup(func() { eventually(t, "the group is gone", func() bool { return os.Remove(dir) == nil }) })
		if _, err := os.Stat(filepath.Join(dir, f.file)); err != nil {
			t.Logf("NOT SHOWN: a control group of %s cannot be frozen here: %v", f.name, err)
			continue
		}
		f.dir = dir
		all = append(all, f)
	}
	return all
}

// TestR7_WithoutTheAlarmItRunsOn plants the fault: a guard whose alarm is put off
// leaves the relay running, and the measure above sees it.
func TestR7_WithoutTheAlarmItRunsOn(t *testing.T) {
	w := newWorld(t)
	cmd := exec.Command(self(t), GuardArg)
	cmd.Env = append(os.Environ(), noAlarmEnv+"=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	writeGuardSpec(t, in, w.spec)
	until := clock.Boot() + 5*time.Second
	fmt.Fprintf(in, "until 1 %d\n", int64(until))
	eventually(t, "the relay lives", func() bool { return w.lastAlive() > 0 })
	freeze(t, cmd.Process.Pid)
	eventually(t, "the relay runs past its deadline", func() bool { return w.lastAlive() > until+kernelBound })
}
