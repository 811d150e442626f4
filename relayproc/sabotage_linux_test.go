package relayproc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// noAlarmEnv has the test guard find no timer of the kernel to be had.
const noAlarmEnv = "TEST_NO_ALARM"

// sabotageGuard is the first thing the test guard does.
func sabotageGuard() {
	if os.Getenv(noAlarmEnv) == "" {
		return
	}
	if err := unix.Setrlimit(unix.RLIMIT_SIGPENDING, &unix.Rlimit{}); err != nil {
		fmt.Fprintln(os.Stderr, "sabotage:", err)
	}
}

// oddRoles are played by this program in tests of this system only.
var oddRoles = map[string]func(){"humble": beHumble, "reserved": sayReserved}
