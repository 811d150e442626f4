package relayproc

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
)

// The tests below are the situations users of comparable software ran into. The
// number in a name stands for one of them and says nothing by itself; the comment
// describes it.

// TestCaseC01_KillingTheParentLeavesTheListener: a boot loader whose child owns
// the ports. The whole tree goes, and the ports with it.
func TestCaseC01_KillingTheParentLeavesTheListener(t *testing.T) {
	for _, shape := range []string{"fork", "double"} {
		t.Run(shape, func(t *testing.T) {
			w := newWorld(t, "-shape", shape).start(time.Hour)
			parent := await[Started](w, nil).PID
			listener := await[Ready](w, nil).PID
			if ownersKnown(t) {
				require.NotEqual(t, parent, listener)
			}
			p, ok := lookup(parent)
			require.True(t, ok)
			killed := clock.Boot()
			require.NoError(t, killProcess(p))
			require.Equal(t, Exited, w.awaitDown().Cause, w)
			requireWithin(t, 3*time.Second, killed, clock.Boot())
		})
	}
}

// TestCaseC02_SupervisorKilled: daemon and guard are gone at once, nothing
// stays, and the next run can start at once.
func TestCaseC02_SupervisorKilled(t *testing.T) {
	w := newWorld(t, "-shape", "double")
	d := w.startDaemon("will")
	d.await(t, "ready")
	guard, ok := lookup(d.await(t, "guard"))
	require.True(t, ok)
	require.NoError(t, d.cmd.Process.Kill())
	killProcess(guard) // it may have ended by itself already
	require.NoError(t, WaitLock(t.Context(), w.spec.LockPath))
	eventually(t, "nothing is left", func() bool { return len(relays(w.dir)) == 0 })
	w.start(time.Hour)
	await[Ready](w, nil)
}

// TestCaseC04_SlowStart: unpacking under an antivirus takes long; that is
// "starting", with one process and no failure.
func TestCaseC04_SlowStart(t *testing.T) {
	w := newWorld(t, "-delay", "2s").start(time.Hour)
	await[Started](w, nil)
	await[Ready](w, nil)
	starts := 0
	for _, ev := range w.seen() {
		if _, ok := ev.(Started); ok {
			starts++
		}
		require.IsNotType(t, Unready{}, ev)
	}
	require.Equal(t, 1, starts)
}

// TestCaseC04_TooSlow: beyond the start timeout it is a failure of its own kind.
func TestCaseC04_TooSlow(t *testing.T) {
	w := newWorld(t, "-delay", "1h")
	w.spec.StartTimeout = 300 * time.Millisecond
	w.start(time.Hour)
	await[Unready](w, nil)
	down := w.awaitDown()
	require.Equal(t, NotReady, down.Cause, w)
	require.Contains(t, down.Note, "not ready within 300ms")
}

// TestCaseC06_GrandchildHoldsTheOutput: the relay ends with an error while a
// child of it keeps the output open. The end is seen all the same.
func TestCaseC06_GrandchildHoldsTheOutput(t *testing.T) {
	w := newWorld(t, "-orphan").start(time.Hour)
	await[Started](w, nil)
	began := clock.Boot() // it ends at once
	down := await[Down](w, nil)
	seen := clock.Boot()
	w.requireNothingLeft()
	require.Equal(t, Exited, down.Cause, w)
	require.Contains(t, down.Note, "exit code 1")
	<-w.guard.Done()
	requireWithin(t, 2*time.Second, began, seen)
}

// TestCaseC07_MegabyteWithoutNewline: the relay is not stopped by a pipe nobody
// empties, and the log stays small.
func TestCaseC07_MegabyteWithoutNewline(t *testing.T) {
	w := newWorld(t, "-flood", "1000000")
	begun := time.Now()
	w.start(time.Hour)
	await[Ready](w, nil)
	w.guard.Kill()
	w.awaitDown()
	<-w.guard.Done()
	shown := int(time.Since(begun)/outputSpan) + 2 // the endless line, as it stands
	require.Contains(t, w.lines(), "bytes more)")
	require.Less(t, len(w.lines()), 1000+shown*(outputLine+100))
}

// TestCaseC07_OddBytes: whatever a relay prints, the log is valid UTF-8.
func TestCaseC07_OddBytes(t *testing.T) {
	for noise, want := range map[string]string{"cp950": "許功蓋 relay", "binary": "\uFFFD"} {
		t.Run(noise, func(t *testing.T) {
			w := newWorld(t, "-noise", noise).start(time.Hour)
			await[Ready](w, nil)
			eventually(t, "the line arrives", func() bool { return strings.Contains(w.lines(), want) })
			require.True(t, utf8.ValidString(w.lines()))
		})
	}
}

// TestCaseC12_NoBackOff: a relay that fails at once is reported once per start;
// how often to start it again is the arbiter's decision, not the guard's.
func TestCaseC12_NoBackOff(t *testing.T) {
	w := newWorld(t, "-exit-after", "1ns", "-exit-code", "1")
	w.spec.PingEvery = generous // the end is to be seen before its ports are missed
	w.start(time.Hour)
	down := w.awaitDown()
	require.Equal(t, Exited, down.Cause, w)
	require.Contains(t, down.Note, "exit code 1")
	starts := 0
	for _, ev := range w.seen() {
		if _, ok := ev.(Started); ok {
			starts++
		}
	}
	require.Equal(t, 1, starts)
}

// TestCaseC14_UnaskedExitZero: success is what we ask for; an end nobody asked
// for is a failure whatever its code.
func TestCaseC14_UnaskedExitZero(t *testing.T) {
	w := newWorld(t, "-exit-after", "300ms", "-exit-code", "0", "-shape", "fork")
	w.spec.PingEvery = generous // the end is to be seen before its ports are missed
	w.start(time.Hour)
	down := w.awaitDown()
	require.Equal(t, Exited, down.Cause, w)
	require.Contains(t, down.Note, "exit code 0")
}

// TestCaseC15_BacklogAnswersForTheProgram: a connect proves nothing about a
// program that never accepts; under hello it is restarted, under tcp it cannot
// be told apart.
func TestCaseC15_BacklogAnswersForTheProgram(t *testing.T) {
	for _, fault := range []string{"-deaf", "-mute"} {
		t.Run("hello "+fault, func(t *testing.T) {
			w := newWorld(t, fault)
			w.spec.Ping, w.spec.StartTimeout = PingHello, 2*time.Second
			w.start(time.Hour)
			await[Unready](w, nil)
			require.Equal(t, NotReady, w.awaitDown().Cause, w)
		})
		t.Run("tcp "+fault, func(t *testing.T) {
			w := newWorld(t, fault).start(time.Hour)
			await[Ready](w, nil)
		})
	}
}

func TestHealth_HelloOfAGoodRelay(t *testing.T) {
	w := newWorld(t, "-shape", "double")
	w.spec.Ping = PingHello
	w.start(time.Hour)
	await[Ready](w, nil)
}

// TestHealth_SilentDuringAPlannedStop: a relay that closes its ports because it
// was asked to end is not unready.
func TestHealth_SilentDuringAPlannedStop(t *testing.T) {
	w := newWorld(t, "-linger", "1s").start(time.Hour)
	await[Ready](w, nil)
	w.guard.Stop(generous)
	require.Equal(t, Stopped, w.awaitDown().Cause, w)
}

// TestPorts_StrangerIsNamed: never a second relay beside somebody else's.
func TestPorts_StrangerIsNamed(t *testing.T) {
	for _, second := range []int{0, 1} {
		t.Run("port+"+strconv.Itoa(second), func(t *testing.T) {
			w := newWorld(t)
			ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(w.spec.Port+second)))
			require.NoError(t, err)
			defer ln.Close()
			w.start(time.Hour)
			down := await[Down](w, nil)
			require.Equal(t, Failed, down.Cause, w)
			require.Contains(t, down.Note, "port "+strconv.Itoa(w.spec.Port+second))
			if ownersKnown(t) {
				require.Contains(t, down.Note, "pid "+strconv.Itoa(os.Getpid()))
			}
			require.Zero(t, w.lastAlive(), "a relay was started all the same")
		})
	}
}

func TestPorts_OtherAddressIsNoObstacle(t *testing.T) {
	w := newWorld(t)
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.2", strconv.Itoa(w.spec.Port)))
	require.NoError(t, err)
	defer ln.Close()
	require.NoError(t, PortsFree("127.0.0.1", w.spec.Port))
	require.Error(t, PortsFree("0.0.0.0", w.spec.Port))
	w.start(time.Hour)
	await[Ready](w, nil)
}

func TestPorts_AddressOfAnotherHost(t *testing.T) {
	err := PortsFree("192.0.2.1", freePorts(t))
	var pe *PortError
	require.ErrorAs(t, err, &pe)
	require.Equal(t, PortNoAddr, pe.Kind)
}

// TestLock_WaitsForAnEarlierRun: the next run knows when the tree of the last
// one is gone.
func TestLock_WaitsForAnEarlierRun(t *testing.T) {
	w := newWorld(t).start(time.Hour)
	await[Ready](w, nil)
	require.ErrorIs(t, ProbeLock(w.spec.LockPath), ErrLocked)
	w.guard.Until(2, clock.Boot()+300*time.Millisecond)
	require.NoError(t, WaitLock(t.Context(), w.spec.LockPath))
	require.Empty(t, relays(w.dir))
}
