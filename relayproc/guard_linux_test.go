package relayproc

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// holderOf is the pid of the init or supervisor of w's running relay.
func (w *world) holderOf() int {
	w.t.Helper()
	kids := descendants(w.guard.PID())
	require.Greater(w.t, len(kids), 1)
	return kids[1]
}

func kill(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, sig), "signal %v to pid %d", sig, pid)
}

func TestGuard_KilledGuardTakesTheTreeAlong(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) {
			w := newWorld(t, "-shape", "double")
			w.spec.plain = plain
			w.start(time.Hour)
			await[Ready](w, nil)
			kill(t, w.guard.PID(), syscall.SIGKILL)
			require.Equal(t, Down{GuardLost, "signal: killed"}, w.awaitDown())
		})
	}
}

func TestGuard_KilledTogetherWithItsHolder(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) {
			w := newWorld(t, "-shape", "double", "-ignore-term")
			w.spec.plain = plain
			w.start(time.Hour)
			await[Ready](w, nil)
			holder := w.holderOf()
			freeze(t, w.guard.PID())
			kill(t, holder, syscall.SIGKILL)
			kill(t, w.guard.PID(), syscall.SIGKILL)
			require.Equal(t, GuardLost, w.awaitDown().Cause)
		})
	}
}

func TestGuard_FrozenGuardIsNoticedByItsSilence(t *testing.T) {
	w := newWorld(t, "-shape", "double").start(time.Hour)
	await[Ready](w, nil)
	freeze(t, w.guard.PID())
	seq := uint64(2)
	eventually(t, "the silence is noticed", func() bool { // as a daemon does, beat after beat
		w.guard.Until(seq, clock.Boot()+time.Hour)
		seq++
		_, over := w.seen()[len(w.seen())-1].(Down)
		return over
	})
	down := w.awaitDown()
	require.Equal(t, GuardLost, down.Cause)
	require.Contains(t, down.Note, "did not answer")
}

func TestGuard_FrozenGuardDoesNotExtendTheDeadline(t *testing.T) {
	tryLonger(t, 500*time.Millisecond, func(life time.Duration) bool {
		w := newWorld(t, "-shape", "double").start(time.Hour)
		await[Ready](w, nil)
		until := clock.Boot() + life
		w.guard.Until(2, until)
		if !w.acked(2) || !frozenBefore(t, w.guard.PID(), until) {
			return false
		}
		require.Equal(t, Deadline, w.awaitDown().Cause, w)
		w.requireDeadBy(until)
		return true
	})
}

func TestGuard_FrozenGuardAndADeadlineThatComesCloser(t *testing.T) {
	w := newWorld(t, "-shape", "double").start(time.Hour)
	await[Ready](w, nil)
	w.guard.Until(2, clock.Boot()+time.Hour)
	await(w, func(a Acked) bool { return a.Seq == 2 }) // from now the watch rests
	freeze(t, w.guard.PID())
	until := clock.Boot() + 20*time.Millisecond
	w.guard.Until(3, until)
	w.awaitDown()
	w.requireDeadBy(until)
}

func TestGuard_FrozenDaemon(t *testing.T) {
	w := newWorld(t, "-shape", "double")
	d := w.startDaemon("release")
	d.await(t, "ready")
	freeze(t, d.cmd.Process.Pid)
	eventually(t, "the relay is dead", func() bool { return len(relays(w.dir)) == 0 })
	w.requireDeadBy(d.due())
	eventually(t, "the lock is free", func() bool { return ProbeLock(w.spec.LockPath) == nil })
	_, err := os.Stat(w.dir + "/will")
	require.ErrorIs(t, err, os.ErrNotExist, "last will of a daemon that still lives")
}

func TestGuard_HolderKilled(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) {
			w := newWorld(t, "-shape", "double")
			w.spec.plain = plain
			w.spec.PingEvery = generous // the end is to be seen before its ports are missed
			w.start(time.Hour)
			await[Ready](w, nil)
			kill(t, w.holderOf(), syscall.SIGKILL)
			require.Equal(t, Exited, w.awaitDown().Cause)
		})
	}
}

func TestGuard_DeafToTheConsole(t *testing.T) {
	w := newWorld(t).start(time.Hour)
	await[Ready](w, nil)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		kill(t, w.guard.PID(), sig)
	}
	w.guard.Until(2, clock.Boot()+time.Hour)
	await(w, func(a Acked) bool { return a.Seq == 2 })
	s, ok := readStat(w.guard.PID())
	require.True(t, ok)
	require.Equal(t, w.guard.PID(), s.pgid, "the guard shares a process group")
}

// TestGuard_NobodyReadsItsAnswers fills the guard's stdout and checks that the
// deadline is kept all the same.
func TestGuard_NobodyReadsItsAnswers(t *testing.T) {
	for _, closed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed=%v", closed), func(t *testing.T) {
			w := newWorld(t)
			cmd := exec.Command(self(t), GuardArg)
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			r, out, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			cmd.Stdout = out
			require.NoError(t, cmd.Start())
			out.Close()
			if closed {
				r.Close()
			}
			writeGuardSpec(t, in, w.spec)
			fmt.Fprintf(in, "until 1 %d\n", int64(clock.Boot()+time.Hour))
			eventually(t, "the relay lives", func() bool { return w.lastAlive() > 0 })
			until := clock.Boot() + time.Second
			fmt.Fprintf(in, "until 2 %d\n", int64(until))
			for i := range 20000 {
				fmt.Fprintf(in, "owns %d\n", i+2)
			}
			eventually(t, "the relay is dead", func() bool { return len(relays(w.dir)) == 0 })
			w.requireDeadBy(until)
			cmd.Wait()
			requireEndedAtDeadline(t, cmd.ProcessState)
			in.Close()
		})
	}
}

func TestGuard_LeavesNothingOpenInTheRelay(t *testing.T) {
	t.Setenv("FLOATRELAY_RELAY_TOKEN", "secret-1")
	t.Setenv("RELAY_TOKEN", "secret-2")
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain=%v", plain), func(t *testing.T) {
			w := newWorld(t)
			w.spec.plain = plain
			w.start(time.Hour)
			ready := await[Ready](w, nil)
			names, err := os.ReadDir(procPath(ready.PID, "fd"))
			require.NoError(t, err)
			for _, n := range names {
				link, _ := os.Readlink(procPath(ready.PID, "fd/"+n.Name()))
				if fd, _ := strconv.Atoi(n.Name()); fd > 2 {
					require.NotContains(t, link, "pipe:", "descriptor %d", fd)
					require.NotContains(t, link, "guard.lock")
				}
			}
			for _, pid := range []int{ready.PID, w.guard.PID(), w.holderOf()} {
				env, err := os.ReadFile(procPath(pid, "environ"))
				require.NoError(t, err)
				require.NotContains(t, string(env), "secret-")
			}
			env, err := os.ReadFile(procPath(ready.PID, "environ"))
			require.NoError(t, err)
			require.Contains(t, string(env), "RELAY_EPOCH=7")
			require.Contains(t, string(env), "PATH=", "the relay lost the ordinary environment")
		})
	}
}

// TestGuard_KeepsTheNetworkOfTheHost: a namespace for pids, not for ports.
func TestGuard_KeepsTheNetworkOfTheHost(t *testing.T) {
	w := newWorld(t).start(time.Hour)
	ready := await[Ready](w, nil)
	own, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	its, err := os.Readlink(procPath(ready.PID, "ns/net"))
	require.NoError(t, err)
	require.Equal(t, own, its)
	ownPID, err := os.Readlink("/proc/self/ns/pid")
	require.NoError(t, err)
	itsPID, err := os.Readlink(procPath(ready.PID, "ns/pid"))
	require.NoError(t, err)
	require.NotEqual(t, ownPID, itsPID, "namespaces are permitted here but not used")
}

func TestGuard_ReapsZombies(t *testing.T) {
	w := newWorld(t, "-shape", "double").start(time.Hour)
	await[Ready](w, nil)
	eventually(t, "the middle process is reaped", func() bool {
		for _, pid := range pids() {
			if s, ok := readStat(pid); ok && s.state == 'Z' && descendsFrom(pid, w.guard.PID()) {
				return false
			}
		}
		return true
	})
}

// TestGuard_WakesPastItsDeadline stands for a host that slept: while it did, a
// later deadline arrived in the pipe. The one that passed is final.
func TestGuard_WakesPastItsDeadline(t *testing.T) {
	tryLonger(t, 2*time.Second, func(life time.Duration) bool {
		w := newWorld(t, "-shape", "double")
		cmd := exec.Command(self(t), GuardArg)
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		defer in.Close()
		require.NoError(t, cmd.Start())
		defer cmd.Wait()
		writeGuardSpec(t, in, w.spec)
		until := clock.Boot() + life
		fmt.Fprintf(in, "until 1 %d\n", int64(until))
		eventually(t, "the relay lives", func() bool { return w.lastAlive() > 0 || clock.Boot() >= until })
		if w.lastAlive() == 0 || !frozenBefore(t, cmd.Process.Pid, until) {
			cmd.Process.Kill()
			return false
		}
		fmt.Fprintf(in, "until 2 %d\n", int64(clock.Boot()+time.Hour))
		eventually(t, "the deadline passes", func() bool { return clock.Boot() > until })
		kill(t, cmd.Process.Pid, syscall.SIGCONT)
		defer time.AfterFunc(generous, func() { cmd.Process.Kill() }).Stop()
		cmd.Wait()
		requireEndedAtDeadline(t, cmd.ProcessState)
		require.Empty(t, relays(w.dir))
		return true
	})
}

// TestGuard_ExitCodes: the code says which end it was.
func TestGuard_ExitCodes(t *testing.T) {
	for name, tc := range map[string]struct {
		input string
		code  int
	}{
		"nothing at all":  {"", CodeSpec},
		"nonsense":        {"nonsense\n", CodeSpec},
		"gone, no will":   {"SPEC\nuntil 1 FAR\n", CodeOrphaned},
		"gone, will lost": {"SPEC\nwill YQ==\nuntil 1 FAR\n", CodeWill},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var spec strings.Builder
			writeGuardSpec(t, &spec, w.spec)
			far := strconv.FormatInt(int64(clock.Boot()+time.Hour), 10)
			cmd := exec.Command(self(t), GuardArg)
			cmd.Stdin = strings.NewReader(strings.NewReplacer("SPEC\n", spec.String(), "FAR", far).Replace(tc.input))
			cmd.Run()
			require.Equal(t, tc.code, cmd.ProcessState.ExitCode())
			require.Empty(t, relays(w.dir))
		})
	}
}

// requireEndedAtDeadline demands that a guard ended its tree at the deadline, or
// that the kernel, which comes a moment later, was first.
func requireEndedAtDeadline(t *testing.T, state *os.ProcessState) {
	t.Helper()
	if state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		require.Equal(t, CodeDeadline, state.ExitCode())
	}
}
