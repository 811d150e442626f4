package localsite

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// startChild starts a daemon that Ctrl-Break can reach alone.
func startChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return cmd.Start()
}
