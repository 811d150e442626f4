package daemon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/freeport"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/relayproc"
)

// keeper is a guards with real guards and stand-in relays, whose start can be
// held up.
type keeper struct {
	*guards
	t      *testing.T
	port   int
	hold   chan struct{} // each start waits for one value
	events chan arbiter.Event
	passed []arbiter.Event // came while another was waited for
}

func newKeeper(t *testing.T, will func(arbiter.SetWill) []byte) *keeper {
	exe, err := os.Executable()
	require.NoError(t, err)
	k := &keeper{t: t, port: freePair(t), hold: make(chan struct{}, 8), events: make(chan arbiter.Event, 64)}
	lock := filepath.Join(t.TempDir(), "guard.lock")
	ctx, cancel := context.WithCancel(context.Background())
	k.guards = &guards{
		ctx: ctx, cmd: relayproc.Command{Path: exe, Args: []string{relayproc.GuardArg}},
		post: func(ev arbiter.Event) { k.events <- ev }, say: func(bool, reason.Reason, ...reason.Reason) {}, will: will,
		spec: func(epoch uint64) relayproc.Spec {
			<-k.hold
			return relayproc.Spec{
				Exe: exe, Args: []string{"standin"}, Addr: "127.0.0.1", Port: k.port,
				Env:          []string{fmt.Sprintf("RELAY_PORT=%d", k.port), "KMSN=4711", "STATION=POS-01", fmt.Sprintf("RELAY_EPOCH=%d", epoch)},
				StartTimeout: 20 * time.Second, KillMargin: 200 * time.Millisecond, LockPath: lock, Output: func(string) {},
			}
		},
	}
	t.Cleanup(func() {
		cancel()
		close(k.hold)
		k.alive.Wait()
		require.NoError(t, relayproc.WaitLock(context.Background(), lock), "nothing of a test is left")
	})
	return k
}

// freePair returns the first of two free ports.
func freePair(t *testing.T) int {
	ports, err := freeport.Pairs(1)
	require.NoError(t, err)
	return ports[0]
}

// next waits for an event that fits and returns it, each once. In which order an
// acknowledgement and the relay's readiness come is a matter of speed.
func (k *keeper) next(what string, fits func(arbiter.Event) bool) arbiter.Event {
	k.t.Helper()
	end := time.After(2 * slack)
	for {
		if i := slices.IndexFunc(k.passed, fits); i >= 0 {
			ev := k.passed[i]
			k.passed = slices.Delete(k.passed, i, i+1)
			return ev
		}
		select {
		case ev := <-k.events:
			k.passed = append(k.passed, ev)
		case <-end:
			require.FailNow(k.t, "no such event", "%s; there were %v", what, k.passed)
		}
	}
}

func (k *keeper) acked(gen, seq uint64) {
	k.t.Helper()
	k.next("acknowledgement", func(ev arbiter.Event) bool { return ev == arbiter.GuardAcked{Gen: gen, Seq: seq} })
}

func (k *keeper) down(gen uint64) arbiter.RelayDown {
	k.t.Helper()
	return k.next("relay down", func(ev arbiter.Event) bool {
		d, ok := ev.(arbiter.RelayDown)
		return ok && d.Gen == gen
	}).(arbiter.RelayDown)
}

func (k *keeper) ready(gen uint64) {
	k.t.Helper()
	k.next("relay ready", func(ev arbiter.Event) bool {
		r, ok := ev.(arbiter.RelayReady)
		return ok && r.Gen == gen
	})
}

func in(d time.Duration) time.Duration { return clock.Boot() + d }

func TestGuards_OrdersBeforeTheGuardRuns(t *testing.T) {
	k := newKeeper(t, nil)
	k.Start(arbiter.StartRelay{Gen: 1, Seq: 1, Epoch: 7, Until: in(time.Minute)})
	k.SetUntil(arbiter.SetUntil{Gen: 1, Seq: 2, Until: in(time.Minute)})
	k.SetUntil(arbiter.SetUntil{Gen: 1, Seq: 3, Until: in(time.Minute)})
	k.hold <- struct{}{}
	k.acked(1, 3)
	k.ready(1)
	k.Stop(arbiter.StopRelay{Gen: 1, Grace: 5 * time.Second})
	require.Equal(t, arbiter.DownStopped, k.down(1).Cause)
}

func TestGuards_StopBeforeTheGuardRuns(t *testing.T) {
	k := newKeeper(t, nil)
	k.Start(arbiter.StartRelay{Gen: 1, Seq: 1, Until: in(time.Minute)})
	k.Stop(arbiter.StopRelay{Gen: 1})
	k.hold <- struct{}{}
	require.Equal(t, arbiter.DownStopped, k.down(1).Cause)
}

func TestGuards_OrdersOfAnotherGenerationAreDropped(t *testing.T) {
	k := newKeeper(t, nil)
	k.hold <- struct{}{}
	k.Start(arbiter.StartRelay{Gen: 2, Seq: 1, Until: in(time.Minute)})
	k.ready(2)
	k.Stop(arbiter.StopRelay{Gen: 1})
	k.SetUntil(arbiter.SetUntil{Gen: 1, Seq: 9, Until: in(0)})
	k.SetUntil(arbiter.SetUntil{Gen: 2, Seq: 10, Until: in(time.Minute)})
	k.acked(2, 10)
	k.SetUntil(arbiter.SetUntil{Gen: 2, Seq: 11, Until: in(0)})
	require.Equal(t, arbiter.DownDeadline, k.down(2).Cause)
}

// A start that comes back only when the next one has begun must not take that
// one's place: its orders would go to a guard that is gone.
func TestGuards_StartThatComesBackLate(t *testing.T) {
	k := newKeeper(t, nil)
	k.Start(arbiter.StartRelay{Gen: 1, Seq: 1, Until: in(time.Minute)})
	k.mu.Lock()
	k.gen = 2 // generation 1 went down before its start came back
	k.mu.Unlock()
	k.hold <- struct{}{}
	require.Equal(t, arbiter.DownStopped, k.down(1).Cause)
	k.mu.Lock()
	defer k.mu.Unlock()
	require.Nil(t, k.run)
}

func TestGuards_RelayThatCannotBeStarted(t *testing.T) {
	k := newKeeper(t, nil)
	k.cmd.Path = filepath.Join(t.TempDir(), "nothing")
	k.hold <- struct{}{}
	k.Start(arbiter.StartRelay{Gen: 1, Seq: 1, Until: in(time.Minute)})
	d := k.down(1)
	require.Equal(t, arbiter.DownFailed, d.Cause)
	require.Contains(t, d.Note, "nothing")
}

// While the daemon lives it releases by itself: a stop carries no will out.
func TestGuards_NoWillWhileTheDaemonLives(t *testing.T) {
	h := newHeir(t)
	k := newKeeper(t, func(a arbiter.SetWill) []byte { return newTestament(h.cfg, false, a) })
	k.Start(arbiter.StartRelay{Gen: 1, Seq: 1, Until: in(time.Minute)})
	k.SetWill(arbiter.SetWill{Gen: 1, Record: h.last, Tip: h.last.Rev})
	k.hold <- struct{}{}
	k.ready(1)
	k.Stop(arbiter.StopRelay{Gen: 1})
	require.Equal(t, arbiter.DownStopped, k.down(1).Cause)
	_, err := h.chain.Read(t.Context(), h.last.Share, h.last.Rev+1)
	require.ErrorIs(t, err, lease.ErrNotExist)
}
