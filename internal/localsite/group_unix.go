//go:build !windows

package localsite

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps a Ctrl-C in the terminal from reaching the daemons: the demo
// ends them itself.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
