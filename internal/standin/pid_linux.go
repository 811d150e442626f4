package standin

import (
	"os"
	"strconv"
)

// hostPID is this process's pid as the host sees it: inside a PID namespace
// os.Getpid is a small number of no use to anybody outside.
func hostPID() int {
	if link, err := os.Readlink("/proc/self"); err == nil {
		if pid, err := strconv.Atoi(link); err == nil {
			return pid
		}
	}
	return os.Getpid()
}
