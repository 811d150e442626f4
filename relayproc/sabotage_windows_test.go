package relayproc

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/convertfw/floatrelay/internal/clock"
)

// haltEnv stops a test guard for good between creating the relay and putting
// it into its job.
const haltEnv = "TEST_HALT_SUSPENDED"

// spillEnv has a test guard open spilled handles that a child may inherit.
const (
	spillEnv = "TEST_SPILL_HANDLES"
	spilled  = 1000
)

func sabotageGuard() {
	if os.Getenv(haltEnv) != "" {
		onSuspended = func() { select {} }
	}
	if os.Getenv(spillEnv) != "" {
		sa := &windows.SecurityAttributes{InheritHandle: 1}
		sa.Length = uint32(unsafe.Sizeof(*sa))
		for range spilled {
			_, _ = windows.CreateEvent(sa, 0, 0, nil)
		}
	}
}

// oddRoles are played by this program as a relay in tests of this system only.
var oddRoles = map[string]func(){"breakaway": breakAway, "handles": countHandles}

// childrenOf lists the living processes that pid started.
func childrenOf(pid int) []int {
	var out []int
	for child, parent := range parents() {
		if _, alive := lookup(child); alive && parent == pid {
			out = append(out, child)
		}
	}
	return out
}

// TestTree_GuardKilledBeforeTheJob: the relay exists, suspended, and is not in
// the job of its tree yet. It goes with its guard all the same.
func TestTree_GuardKilledBeforeTheJob(t *testing.T) {
	w := newWorld(t)
	cmd := exec.Command(self(t), GuardArg)
	cmd.Env = append(os.Environ(), haltEnv+"=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	writeGuardSpec(t, in, w.spec)
	fmt.Fprintf(in, "until 1 %d\n", int64(clock.Boot()+time.Hour))
	var born []process
	eventually(t, "the relay is created", func() bool {
		for _, pid := range childrenOf(cmd.Process.Pid) {
			if p, ok := lookup(pid); ok && sameProgram(p.Exe, w.spec.Exe) {
				born = append(born, p)
			}
		}
		return len(born) > 0
	})
	require.Zero(t, w.lastAlive(), "the relay runs before it is in its job")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	eventually(t, "the suspended relay is gone", func() bool {
		now, alive := lookup(born[0].PID)
		return !alive || now != born[0]
	})
}

// says runs this program in the given role as the relay, guarded, and waits for
// a line of its output that begins with the role.
func says(t *testing.T, role string) string {
	w := newWorld(t)
	w.spec.Args = []string{role}
	w.start(time.Hour)
	var found string
	eventually(t, role+" says something", func() bool {
		for line := range strings.Lines(w.lines()) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), role+": "); ok {
				found = rest
			}
		}
		return found != ""
	})
	return found
}

// TestTree_NobodyBreaksAway: a relay that asks for a child outside its job gets
// none.
func TestTree_NobodyBreaksAway(t *testing.T) {
	require.Equal(t, "denied", says(t, "breakaway"))
}

func breakAway() {
	cmd := exec.Command(os.Args[0], "standin", "-role", "sleeper")
	cmd.Env = append(os.Environ(), "RELAY_PORT=9530")
	cmd.SysProcAttr = guardAttr()
	cmd.SysProcAttr.CreationFlags |= windows.CREATE_BREAKAWAY_FROM_JOB
	if cmd.Start() == nil {
		fmt.Println("breakaway: escaped")
	} else {
		fmt.Println("breakaway: denied")
	}
	time.Sleep(time.Hour)
}

// TestTree_InheritsNoHandles: of a thousand handles the guard left inheritable
// the relay gets none.
func TestTree_InheritsNoHandles(t *testing.T) {
	t.Setenv(spillEnv, "1")
	n, err := strconv.Atoi(says(t, "handles"))
	require.NoError(t, err)
	require.Positive(t, n)
	require.Less(t, n, spilled)
}

// countHandles says how many handles this process has, those below 80,000 at
// least.
func countHandles() {
	n := 0
	for h := windows.Handle(4); h < 80_000; h += 4 {
		var flags uint32
		if rc, _, _ := getHandleInformation.Call(uintptr(h), uintptr(unsafe.Pointer(&flags))); rc != 0 {
			n++
		}
	}
	fmt.Println("handles:", n)
	time.Sleep(time.Hour)
}

var getHandleInformation = kernel32.NewProc("GetHandleInformation")
