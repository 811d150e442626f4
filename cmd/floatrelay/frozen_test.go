package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// frozen holds an address as a frozen daemon does: the system takes the
// connections, nobody reads them.
func frozen(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

// Every command that asks says within 2 s that the daemon does not answer,
// which process that is, and what to do.
func TestFrozenDaemon_IsSaidWithinTwoSeconds(t *testing.T) {
	file := ini(t)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), "daemon.pid"), []byte("4242\n"), 0o600))
	addr := frozen(t)
	for _, line := range []string{
		"members", "members --json", "leader", "leader --fallback", "status", "watch", "history", "handoff", "handoff POS-02 --wait",
		"drain", "undrain", "token status",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var got result
			soon := func() bool {
				begin := time.Now()
				got = cli(t, append(strings.Fields(line), "--config", file, "--api", addr)...)
				return time.Since(begin) < 2500*time.Millisecond
			}
			for tries := 1; !soon(); tries++ { // a busy machine may be late, but not every time
				require.Less(t, tries, 10)
			}
			require.Equal(t, exitNoDaemon, got.code, got.err)
			require.Contains(t, got.err, "at "+addr+": it takes the connection but does not answer")
			require.Contains(t, got.err, "the daemon, pid 4242, is frozen")
			require.Contains(t, got.err, fmt.Sprintf("end it with '"+endCommand+"'", 4242))
			require.NotContains(t, got.err, "start it with")
			require.NotContains(t, got.err, "nobody leads")
		})
	}
	t.Run("no pid is known", func(t *testing.T) {
		got := cli(t, "status", "--config", ini(t), "--api", addr)
		require.Contains(t, got.err, "the daemon is frozen, or this PC is overloaded")
	})
}
