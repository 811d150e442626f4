package procs

import (
	"os"
	"runtime"
)

// OneThread keeps this program's Go code on one thread at a time. A daemon or a
// guard is a few short bursts of work between long pauses; handing each from
// thread to thread wakes all of them and costs a fifth to a half more. Calls that
// block, such as those of the share or of the local disk, are on threads of their
// own all the same. GOMAXPROCS in the environment is obeyed.
func OneThread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}
