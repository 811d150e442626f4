package relayproc

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/convertfw/floatrelay/internal/clock"
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
	eventually(t, "the process stands still", func() bool { return standsStill(pid) })
}

// frozenBefore is freeze for a guard whose deadline is near; false if that came
// first.
func frozenBefore(t testing.TB, pid int, until time.Duration) bool {
	t.Helper()
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	still := false
	eventually(t, "the process stands still, or its deadline passes", func() bool {
		still = standsStill(pid) && clock.Boot() < until
		return still || clock.Boot() >= until
	})
	return still
}

func standsStill(pid int) bool {
	threads, _ := filepath.Glob(procPath(pid, "task/*/stat"))
	for _, path := range threads {
		body, _ := os.ReadFile(path)
		if _, after, ok := strings.Cut(string(body), ") "); ok && !strings.HasPrefix(after, "T") {
			return false
		}
	}
	return len(threads) > 0
}

// processes are those of w's running relay and its guard, by what a blow calls
// them.
func (w *world) processes() map[string]int {
	return map[string]int{
		"guard": w.guard.PID(), "parent": await[Started](w, nil).PID, "listener": await[Ready](w, nil).PID,
	}
}

// openFiles counts the descriptors of this process; openSlack is how many more
// than before are no leak.
func openFiles(t testing.TB) int {
	names, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(names)
}

const openSlack = 0

// cpuTime is what this process has had of a core.
func cpuTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
