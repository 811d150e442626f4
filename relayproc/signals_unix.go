//go:build unix

package relayproc

import (
	"os"
	"syscall"
)

var shielded = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE}
