package relayproc

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// daemonLife is how far ahead the test daemon keeps the deadline.
const daemonLife = 2 * time.Second

// relays finds the living stand-in processes whose life log lies in dir.
func relays(dir string) []int {
	var out []int
	for _, pid := range pids() {
		cmdline, _ := os.ReadFile(procPath(pid, "cmdline"))
		env, _ := os.ReadFile(procPath(pid, "environ"))
		s, ok := readStat(pid)
		if ok && !s.dead() && strings.Contains(string(cmdline), "\x00standin\x00") &&
			strings.Contains(string(env), dir) {
			out = append(out, pid)
		}
	}
	return out
}

// freeze stops a process and returns once none of its threads runs: a signal is
// only sent when kill(2) returns, and a thread that wakes until it is delivered
// still reads what comes in.
func freeze(t testing.TB, pid int) {
	t.Helper()
	kill(t, pid, syscall.SIGSTOP)
	eventually(t, "the process stands still", func() bool {
		threads, err := filepath.Glob(procPath(pid, "task/*/stat"))
		require.NoError(t, err)
		for _, path := range threads {
			body, _ := os.ReadFile(path)
			if _, after, ok := strings.Cut(string(body), ") "); ok && !strings.HasPrefix(after, "T") {
				return false
			}
		}
		return len(threads) > 0
	})
}
