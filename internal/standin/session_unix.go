//go:build unix

package standin

import (
	"os/exec"
	"syscall"
)

// leaveSession has cmd begin a session and process group of its own.
func leaveSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
