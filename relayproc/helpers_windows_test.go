package relayproc

import (
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/convertfw/floatrelay/internal/standin"
)

// daemonLife is how far ahead the test daemon keeps the deadline. Starting a
// guard alone can take two seconds here.
const daemonLife = 5 * time.Second

// relays finds the living stand-in processes that wrote the life log in dir.
func relays(dir string) []int {
	spans, err := standin.ReadLife(filepath.Join(dir, "life.log"))
	if err != nil {
		return nil
	}
	self, _ := os.Executable()
	var out []int
	for _, s := range spans {
		for _, pid := range s.PIDs {
			if p, ok := lookup(pid); ok && sameProgram(p.Exe, self) {
				out = append(out, pid)
			}
		}
	}
	return out
}

// processes are those of w's running relay and its guard, by what a blow calls
// them. The port of the listener may not say who owns it.
func (w *world) processes() map[string]int {
	who := map[string]int{"guard": w.guard.PID(), "parent": await[Started](w, nil).PID}
	for _, pid := range relays(w.dir) {
		if pid != who["parent"] {
			who["listener"] = pid
		}
	}
	require.NotZero(w.t, who["listener"])
	return who
}

// openFiles counts the handles of this process; openSlack is how many more than
// before are no leak: a thread that Go adds has one, and stays.
func openFiles(t testing.TB) int {
	var n uint32
	rc, _, err := getProcessHandleCount.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&n)))
	require.NotZero(t, rc, "count the handles of this process: %v", err)
	return int(n)
}

const openSlack = leakRounds - 1

var getProcessHandleCount = kernel32.NewProc("GetProcessHandleCount")

// cpuTime is what this process has had of a core, to a tick of the clock.
func cpuTime() time.Duration {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0
	}
	ticks := int64(kernel.HighDateTime)<<32 + int64(kernel.LowDateTime) + int64(user.HighDateTime)<<32 + int64(user.LowDateTime)
	return time.Duration(ticks * 100)
}
