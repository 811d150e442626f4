package relayproc

import (
	"os"
	"syscall"
)

var shielded = []os.Signal{os.Interrupt, syscall.SIGTERM}
