package relayproc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/testkit/wine"
)

func TestGuard_KillsAtTheDeadline(t *testing.T) {
	w := newWorld(t, "-shape", "double").start(time.Hour)
	await[Ready](w, nil)
	until := clock.Boot() + 300*time.Millisecond
	w.guard.Until(2, until)
	await(w, func(a Acked) bool { return a.Seq == 2 })
	require.Equal(t, Deadline, w.awaitDown().Cause, w)
	require.Greater(t, clock.Boot(), until, "killed before its time")
	w.requireDeadBy(until)
}

func TestGuard_DeadlineMovesBothWays(t *testing.T) {
	tryLonger(t, time.Second, func(life time.Duration) bool {
		w := newWorld(t).start(time.Hour)
		await[Ready](w, nil)
		closer := clock.Boot() + life
		w.guard.Until(2, closer)
		moved := w.acked(2)
		if moved {
			w.guard.Until(3, clock.Boot()+time.Hour)
			moved = w.acked(3)
		}
		if !moved {
			require.Equal(t, Deadline, w.awaitDown().Cause, w)
			require.Greater(t, clock.Boot(), closer, "killed before its time")
			return false
		}
		eventually(t, "the closer deadline passes", func() bool { return clock.Boot() > closer })
		eventually(t, "the relay lives beyond it", func() bool { return w.lastAlive() > closer })
		w.guard.Until(4, clock.Boot())
		require.Equal(t, Deadline, w.awaitDown().Cause, w)
		return true
	})
}

func TestGuard_ExpiredIsFinal(t *testing.T) {
	w := newWorld(t).start(time.Hour)
	await[Ready](w, nil)
	w.guard.in.put("", order{kind: "until", seq: 2, until: 1}.String())
	w.guard.in.put("", order{kind: "until", seq: 3, until: clock.Boot() + time.Hour}.String())
	require.Equal(t, Deadline, w.awaitDown().Cause, w)
	for _, ev := range w.seen() {
		require.NotEqual(t, Acked{Seq: 3}, ev, "a deadline was moved after it had passed")
	}
}

func TestGuard_DeadlineAlreadyPast(t *testing.T) {
	w := newWorld(t).start(-time.Second)
	require.Equal(t, Deadline, w.awaitDown().Cause, w)
	require.Zero(t, w.lastAlive(), "a relay was started after its deadline")
}

func TestGuard_StopAsksFirstThenKills(t *testing.T) {
	t.Run("polite", func(t *testing.T) {
		w := newWorld(t).start(time.Hour)
		await[Ready](w, nil)
		w.guard.Stop(generous)
		require.Equal(t, Stopped, w.awaitDown().Cause, w)
	})
	t.Run("stubborn", func(t *testing.T) {
		w := newWorld(t, "-ignore-term", "-shape", "fork").start(time.Hour)
		await[Ready](w, nil)
		const grace = 400 * time.Millisecond
		asked := clock.Boot()
		w.guard.Stop(grace)
		down := await[Down](w, nil)
		ended := clock.Boot()
		w.requireNothingLeft()
		require.Equal(t, Stopped, down.Cause, w)
		if strings.Contains(down.Note, "killed at once") {
			require.True(t, wine.NotShown(t, "Ctrl-Break and the grace (no console)"), down.Note)
			return
		}
		require.GreaterOrEqual(t, ended, asked+grace, "killed before the grace was over") // its last sign of life may be older
	})
	t.Run("before it started", func(t *testing.T) {
		w := newWorld(t).start(time.Hour)
		w.guard.Kill()
		require.Equal(t, Stopped, w.awaitDown().Cause, w)
	})
	t.Run("end of context", func(t *testing.T) {
		w := newWorld(t)
		ctx, cancel := context.WithCancel(context.Background())
		g, err := Start(ctx, Command{self(t), []string{GuardArg}}, w.spec, 1, clock.Boot()+time.Hour, w.note)
		require.NoError(t, err)
		await[Ready](w, nil)
		cancel()
		require.Equal(t, Stopped, w.awaitDown().Cause, w)
		<-g.Done()
	})
}

func TestGuard_RelayThatCannotBeStarted(t *testing.T) {
	w := newWorld(t)
	w.spec.Exe = filepath.Join(w.dir, "missing.exe")
	down := w.start(time.Hour).awaitDown()
	require.Equal(t, Failed, down.Cause)
	require.Contains(t, down.Note, "missing.exe")
}

func TestGuard_NeedsTheLockFirst(t *testing.T) {
	w := newWorld(t)
	lock, err := takeLock(w.spec.LockPath)
	require.NoError(t, err)
	w.start(time.Hour)
	down := await[Down](w, nil)
	require.Equal(t, Failed, down.Cause)
	require.Contains(t, down.Note, "guard.lock")
	require.Zero(t, w.lastAlive(), "a relay was started without the lock")
	lock.Release()
}

func TestGuard_LockThatIsReleasedInTime(t *testing.T) {
	eventually(t, "the lock is released in time", func() bool { // by a test that may be held up
		w := newWorld(t)
		lock, err := takeLock(w.spec.LockPath)
		require.NoError(t, err)
		begun := clock.Boot()
		w.start(time.Hour)
		await[Waiting](w, nil)
		lock.Release()
		if clock.Boot()-begun >= lockPatience {
			return false
		}
		await[Ready](w, nil)
		return true
	})
}

func TestGuard_LastWillAfterTheTreeIsDead(t *testing.T) {
	w := newWorld(t, "-shape", "double")
	d := w.startDaemon("release 43")
	d.await(t, "ready")
	require.NoError(t, d.cmd.Process.Kill())
	var will []byte
	eventually(t, "the last will", func() bool {
		will, _ = os.ReadFile(filepath.Join(w.dir, "will"))
		return len(will) > 0
	})
	require.Equal(t, "release 43", string(will))
	w.requireNothingLeft()
}

func TestGuard_NoLastWillWithoutPayload(t *testing.T) {
	g := &guard{eof: true, haveSpec: true}
	called := false
	code := g.lastWill(func(context.Context, []byte) error { called = true; return nil })
	require.Equal(t, CodeOrphaned, code)
	require.False(t, called)
}

func TestStart_RefusesNonsense(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"no program":    func(s *Spec) { s.Exe = "" },
		"relative path": func(s *Spec) { s.Exe = "relay.exe" },
		"port":          func(s *Spec) { s.Port = 65535 },
		"no lock":       func(s *Spec) { s.LockPath = "" },
		"ping":          func(s *Spec) { s.Ping = "icmp" },
	} {
		t.Run(name, func(t *testing.T) {
			spec := newWorld(t).spec
			change(&spec)
			_, err := Start(context.Background(), Command{Path: self(t)}, spec, 1, 0, func(Event) {})
			require.ErrorIs(t, err, ErrSpec)
		})
	}
	_, err := Start(context.Background(), Command{Path: "/no/such/guard"}, newWorld(t).spec, 1, 0, func(Event) {})
	require.ErrorContains(t, err, "start guard")
}
