package daemon

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/internal/words"
	"github.com/convertfw/floatrelay/relayproc"
)

// leaveArg has the test binary start a program and end, as a person's shell or a
// scheduled task does: what it started is nobody's child that is known here.
const leaveArg = "leave"

func leave(args []string) int {
	if err := exec.Command(args[0], args[1:]...).Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// relayProgram is a relay program that is not floatrelay itself.
func relayProgram(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	body, err := os.ReadFile(exe)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "relay_server.exe")
	require.NoError(t, os.WriteFile(path, body, 0o755))
	return path
}

// watchdogRelay starts exe as an old watchdog does, on a port of its own, and
// returns its pid. It does not listen for an hour.
func watchdogRelay(t *testing.T, exe string) int {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	life := filepath.Join(t.TempDir(), "life")
	cmd := exec.Command(self, leaveArg, exe, "standin", "-delay", "1h")
	cmd.Env = append(os.Environ(), standin.LogEnv+"="+life, "RELAY_PORT="+strconv.Itoa(freePair(t)))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	pid := 0
	require.Eventually(t, func() bool {
		spans, err := standin.ReadLife(life)
		if err == nil && len(spans) > 0 && len(spans[0].PIDs) > 0 {
			pid = spans[0].PIDs[0]
		}
		return pid != 0
	}, 2*slack, 20*time.Millisecond, "the watchdog's relay runs")
	t.Cleanup(func() {
		procs.Kill(pid)
		require.Eventually(t, func() bool { return len(relayproc.Strangers(exe)) == 0 }, 2*slack, 20*time.Millisecond)
	})
	return pid
}

// A relay that an old watchdog started keeps this PC from leading, whatever its
// port, and before it listens. It is named where people look, and the PC leads
// once it is gone. Another daemon's relay on the same PC is no such relay.
func TestDaemon_RelayOfSomebodyElse(t *testing.T) {
	share, exe := newShare(t), relayProgram(t)
	cfg := configFor(t, "POS-01", share)
	cfg.RelayExe = exe
	pid := watchdogRelay(t, exe)
	log := &paper{t: t}
	x := beginLogged(t, cfg, nil, log)
	named := fmt.Sprintf("somebody else started a relay here: pid %d (%s)", pid, exe)
	x.until("names the relay and nothing else, in status, NOTE and log", func(s localapi.Status) bool {
		return s.Note == named+"; end it, and what starts it" && s.Role == "ineligible" && !s.Eligible &&
			s.Note == x.Members().Members[0].Note && strings.Contains(log.String(), named)
	})

	procs.Kill(pid)
	x.until("leads, and nothing is wrong", func(s localapi.Status) bool { return leads(s) && s.Note == "" })
	require.Empty(t, relayproc.Strangers(exe), "a daemon's own relay was taken for somebody else's")
	cfg = configFor(t, "POS-02", share)
	cfg.RelayExe = exe
	cfg.GossipPeers = []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(x.cfg.GossipPort))}
	y := begin(t, cfg, nil)
	y.until("follows and may lead", func(s localapi.Status) bool { return follows(s) && s.Eligible })
}

func TestStrangerNote(t *testing.T) {
	a, b := relayproc.Holder{PID: 70, Program: "/opt/relay"}, relayproc.Holder{PID: 9, Program: "/opt/relay"}
	require.Equal(t, "somebody else started a relay here: pid 70 (/opt/relay); end it, and what starts it", words.English.All(strangerNote([]relayproc.Holder{a})))
	require.Equal(t, "somebody else started a relay here: pid 9 (/opt/relay) and 1 more; end it, and what starts it",
		words.English.All(strangerNote([]relayproc.Holder{a, b})), "always the same one first")
}
