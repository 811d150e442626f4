package localsite

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// startChild starts a daemon that ends with this process, however that ends, and
// that a Ctrl-C in the terminal does not reach: the site's owner ends it.
//
// The kernel sends the signal when the thread that started the child ends, so one
// thread that never ends starts all of them.
func startChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan error, 1)
	starter() <- func() { done <- cmd.Start() }
	return <-done
}

var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})
