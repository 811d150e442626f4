package relayproc

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// stallRecord makes every attempt to write relay.json hang: nobody ever reads
// the pipe that lies where the new file is written.
func (w *world) stallRecord() {
	require.NoError(w.t, syscall.Mkfifo(filepath.Join(w.dir, recordName+".new"), 0o600))
}

// TestGuard_StalledDiskAndFrozenDaemon: the local disk stands still from the
// first moment, and the daemon too. The deadline is kept all the same.
func TestGuard_StalledDiskAndFrozenDaemon(t *testing.T) {
	w := newWorld(t, "-shape", "double")
	w.stallRecord()
	d := w.startDaemon("will")
	d.await(t, "ready")
	freeze(t, d.cmd.Process.Pid)
	eventually(t, "the relay is dead", func() bool { return len(relays(w.dir)) == 0 })
	w.requireDeadBy(d.due())
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
}

// TestGuard_StalledDiskAndDeadDaemon: even the last will is carried out.
func TestGuard_StalledDiskAndDeadDaemon(t *testing.T) {
	w := newWorld(t, "-shape", "double")
	w.stallRecord()
	d := w.startDaemon("release 43")
	d.await(t, "ready")
	require.NoError(t, d.cmd.Process.Kill())
	eventually(t, "the last will", func() bool {
		will, _ := os.ReadFile(filepath.Join(w.dir, "will"))
		return string(will) == "release 43"
	})
	w.requireNothingLeft()
}

// TestGuard_StalledDiskIsNoObstacle: the relay starts, its deadline moves, and
// it ends as on any other day.
func TestGuard_StalledDiskIsNoObstacle(t *testing.T) {
	w := newWorld(t)
	w.stallRecord()
	w.start(time.Hour)
	await[Ready](w, nil)
	w.guard.Stop(generous)
	require.Equal(t, Stopped, w.awaitDown().Cause)
}
