package relayproc

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// holderWhole is never reported on Windows: the job ends with the guard, not
// with a process inside it.
const holderWhole = "whole"

// killedCode is the exit code of what we kill.
const killedCode = 1

// guardAttr gives the guard a hidden console and a process group of its own.
// The user's Ctrl-C does not reach it, and the relay, which inherits that
// console, can be sent Ctrl-Break even when the daemon is a service without one.
func guardAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP,
	}
}

// grip is a hold on one process that survives the reuse of its pid. A nil grip
// is one of a process that is gone.
type grip struct{ handle windows.Handle }

// openGrip takes hold of pid if it was started by parent.
func openGrip(pid, parent int) *grip {
	h, err := windows.OpenProcess(lookAccess|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return nil
	}
	if parents()[pid] != parent {
		windows.CloseHandle(h)
		return nil
	}
	return &grip{h}
}

func (g *grip) kill() {
	if g != nil {
		windows.TerminateProcess(g.handle, killedCode)
	}
}

func (g *grip) alive() bool { return g != nil && running(g.handle) }

func (g *grip) close() {
	if g != nil {
		windows.CloseHandle(g.handle)
	}
}

// killMarked has nothing to do: a job needs no marks.
func killMarked(string) int { return 0 }
