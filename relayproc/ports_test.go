package relayproc

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listenAt listens as a stranger would, for as long as the test lasts.
func listenAt(t *testing.T, network, host string, port int) {
	ln, err := net.Listen(network, net.JoinHostPort(host, strconv.Itoa(port)))
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
}

// TestPorts_WhoIsInTheWay: every kind of stranger on either port is named with
// pid, program and address, and whoever is none is left alone.
func TestPorts_WhoIsInTheWay(t *testing.T) {
	known := ownersKnown(t)
	for _, tc := range []struct {
		name, network, host string
		lease               string
		inTheWay            bool
	}{
		{"the very address", "tcp4", "127.0.0.1", "127.0.0.1", true},
		{"every IPv4 address", "tcp4", "0.0.0.0", "127.0.0.1", true},
		{"another address only", "tcp4", "127.0.0.2", "127.0.0.1", false},
		{"another address, ours is any", "tcp4", "127.0.0.2", "0.0.0.0", true},
		{"every address of both kinds", "tcp", "::", "127.0.0.1", true},
		{"every IPv6 address only", "tcp6", "::", "127.0.0.1", false},
		{"one IPv6 address only", "tcp6", "::1", "127.0.0.1", false},
	} {
		for second := range 2 {
			t.Run(tc.name+", port+"+strconv.Itoa(second), func(t *testing.T) {
				port := freePorts(t)
				listenAt(t, tc.network, tc.host, port+second)
				err := PortsFree(tc.lease, port)
				_, held := PortHolder(tc.lease, port+second)
				require.Equal(t, tc.inTheWay, held)
				if !tc.inTheWay {
					require.NoError(t, err)
					return
				}
				var pe *PortError
				require.ErrorAs(t, err, &pe)
				require.Equal(t, PortHeld, pe.Kind)
				require.Equal(t, port+second, pe.Port)
				require.Contains(t, err.Error(), " on "+tc.host)
				if known {
					require.Equal(t, os.Getpid(), pe.Holder.PID)
					require.True(t, sameProgram(pe.Holder.Program, self(t)), pe.Holder.Program)
				}
			})
		}
	}
}

// TestPorts_RelayBesideAnIPv6Listener: a stranger on every IPv6 address gets
// none of the relay's connections; the relay starts and stays.
func TestPorts_RelayBesideAnIPv6Listener(t *testing.T) {
	w := newWorld(t)
	listenAt(t, "tcp6", "::", w.spec.Port)
	listenAt(t, "tcp6", "::", w.spec.Port+1)
	w.start(time.Hour)
	await[Ready](w, nil)
	for range 3 * ownerEvery {
		time.Sleep(w.spec.PingEvery)
	}
	for _, ev := range w.seen() {
		require.IsNotType(t, Unready{}, ev)
		require.IsNotType(t, Down{}, ev)
	}
	w.guard.Kill()
	require.Equal(t, Stopped, await[Down](w, nil).Cause)
}

// TestPorts_RelayOnAnotherAddressOnly: a relay that listens, but not where the
// others look for it, is not ready, and the reason is said.
func TestPorts_RelayOnAnotherAddressOnly(t *testing.T) {
	tryLonger(t, 2*time.Second, func(timeout time.Duration) bool {
		w := newWorld(t, "-listen", "127.0.0.2")
		w.spec.StartTimeout = timeout
		w.start(time.Hour)
		down := w.awaitDown()
		require.Equal(t, NotReady, down.Cause, w)
		if strings.Contains(down.Note, "nothing listens") {
			return false
		}
		require.Contains(t, down.Note, "127.0.0.2 only, not at 127.0.0.1")
		return true
	})
}
