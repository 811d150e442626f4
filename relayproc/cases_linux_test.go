package relayproc

import (
	"context"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/standin"
)

// killedWithClients is a relay without SO_REUSEADDR that was killed while twenty
// clients were connected.
func killedWithClients(t *testing.T) (w *world, clients []*standin.Conn) {
	w = newWorld(t, "-no-reuse").start(time.Hour)
	await[Ready](w, nil)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(w.spec.Port))
	for range 20 {
		c, err := standin.Dial(context.Background(), address, "K1", "POS-02")
		require.NoError(t, err)
		clients = append(clients, c)
	}
	w.guard.Kill()
	w.awaitDown()
	return w, clients
}

// samePort starts the same kind of relay again on the ports of w.
func samePort(w *world) *world {
	again := newWorld(w.t, "-no-reuse")
	again.spec.Port, again.spec.Env[0] = w.spec.Port, w.spec.Env[0]
	return again.start(time.Hour)
}

// TestCaseC10_OldConnectionsHoldThePort: after a quick restart a relay without
// SO_REUSEADDR cannot bind while old connections are being wound up. That is
// waited out inside one start and is no crash.
func TestCaseC10_OldConnectionsHoldThePort(t *testing.T) {
	w, clients := killedWithClients(t)

	again := samePort(w)
	await[Waiting](again, nil)
	for _, c := range clients { // a reset frees the port at once, instead of in a minute
		require.NoError(t, c.Conn.(*net.TCPConn).SetLinger(0))
		c.Close()
	}
	await[Ready](again, nil)
}

// TestCaseC15_FrozenRelay: a stopped relay still accepts; the hello decides.
func TestCaseC15_FrozenRelay(t *testing.T) {
	w := newWorld(t, "-shape", "fork")
	w.spec.Ping = PingHello
	w.start(time.Hour)
	kill(t, await[Ready](w, nil).PID, syscall.SIGSTOP)
	note := await[Unready](w, nil).Note
	require.Contains(t, note, "stopped answering")
	require.Equal(t, NotReady, w.awaitDown().Cause, w)
}

// TestPorts_SharedListener: a second listener on the same port takes part of
// our connections; it is named, and ours goes.
func TestPorts_SharedListener(t *testing.T) {
	w := newWorld(t, "-share-port").start(time.Hour)
	await[Ready](w, nil)
	other := newWorld(t, "-share-port")
	intruder := other.relayByHand(w.spec.Port)
	down := await[Down](w, nil)
	require.Equal(t, Failed, down.Cause, w)
	require.Contains(t, down.Note, "also held by pid "+strconv.Itoa(intruder))
}

// TestHealth_ListenerMustBeOurs: somebody else's listener that answers does not
// make a relay ready that has none.
func TestHealth_ListenerMustBeOurs(t *testing.T) {
	w := newWorld(t, "-delay", "1h").start(time.Hour)
	await[Started](w, nil)
	other := newWorld(t)
	intruder := other.relayByHand(w.spec.Port)
	down := await[Down](w, nil)
	require.Equal(t, Failed, down.Cause, w)
	require.Contains(t, down.Note, strconv.Itoa(intruder))
	for _, ev := range w.seen() {
		require.IsNotType(t, Ready{}, ev)
	}
}

func TestStrangers_FindsARelayStartedByHand(t *testing.T) {
	exe := copySelf(t)
	w := newWorld(t)
	w.spec.Exe = exe
	require.Empty(t, Strangers(exe))
	pid := w.relayByHand(w.spec.Port)
	found := Strangers(exe)
	require.Len(t, found, 1)
	require.Equal(t, pid, found[0].PID)
	require.Empty(t, Strangers(self(t)), "this very program is never a stranger")
}

func TestStrangers_OursIsNone(t *testing.T) {
	w := newWorld(t, "-shape", "double")
	w.spec.Exe = copySelf(t)
	w.start(time.Hour)
	await[Ready](w, nil)
	require.Empty(t, Strangers(w.spec.Exe))
}

// TestHealth_PortClosesWhileTheProgramLives: alive but not accepting is not
// well.
func TestHealth_PortClosesWhileTheProgramLives(t *testing.T) {
	w := newWorld(t, "-shape", "double").start(time.Hour)
	kill(t, await[Ready](w, nil).PID, syscall.SIGKILL)
	require.Contains(t, await[Unready](w, nil).Note, "stopped answering")
	require.Equal(t, NotReady, w.awaitDown().Cause, w)
}
