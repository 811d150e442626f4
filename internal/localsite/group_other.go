//go:build !windows && !linux

package localsite

import (
	"os/exec"
	"syscall"
)

// startChild starts a daemon that a Ctrl-C in the terminal does not reach: the
// site's owner ends it.
func startChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}
