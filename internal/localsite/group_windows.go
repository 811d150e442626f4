package localsite

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownGroup lets Ctrl-Break reach one daemon alone.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}
