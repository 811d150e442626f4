package relayproc

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// relayByHand starts w's relay without any guard on the given port, as an old
// watchdog would, and waits until it listens. It returns its pid. A shell in
// between keeps this program from being its parent.
func (w *world) relayByHand(port int) int {
	w.t.Helper()
	args := append([]string{"-c", `"$0" "$@" >/dev/null 2>&1 & echo $!`, w.spec.Exe}, w.spec.Args...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = mergeEnv(mergeEnv(os.Environ(), w.spec.Env), []string{"RELAY_PORT=" + strconv.Itoa(port)})
	out, err := cmd.Output()
	require.NoError(w.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		if p, ok := lookup(pid); ok {
			killProcess(p)
		}
		eventually(w.t, "the relay by hand is gone", func() bool { _, ok := lookup(pid); return !ok })
	})
	eventually(w.t, "the relay by hand listens", func() bool {
		for _, l := range listeners(port) {
			if l.still(pid) {
				return true
			}
		}
		return false
	})
	return pid
}

// copySelf is this test program under another path.
func copySelf(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "relay_server.exe")
	copyProgram(t, path)
	return path
}
