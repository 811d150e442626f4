package standin

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// leaveSession has cmd begin a process group of its own, without a console.
func leaveSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}
