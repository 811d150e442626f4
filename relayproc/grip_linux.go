package relayproc

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// holderWhole marks a holder whose end is the end of its whole tree.
const holderWhole = "whole"

// guardAttr keeps the guard out of the daemon's session: nothing sent to a
// console or process group reaches it.
func guardAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// grip is a hold on one process that survives the reuse of its pid. A nil grip
// is one of a process that is gone.
type grip struct{ fd int }

// openGrip takes hold of pid if it is still a child of parent: between being
// named and being looked at it may have died and its pid gone to another.
func openGrip(pid, parent int) *grip {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil
	}
	if s, ok := readStat(pid); !ok || s.ppid != parent {
		unix.Close(fd)
		return nil
	}
	return &grip{fd}
}

func (g *grip) kill() {
	if g != nil {
		unix.PidfdSendSignal(g.fd, unix.SIGKILL, nil, 0)
	}
}

// alive reports whether the process, or anything below a namespace's init,
// still runs: an init becomes a zombie only after everything else is gone.
func (g *grip) alive() bool {
	if g == nil {
		return false
	}
	p := []unix.PollFd{{Fd: int32(g.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(p, 0)
	return err == unix.EINTR || err == nil && n == 0
}

func (g *grip) close() {
	if g != nil {
		unix.Close(g.fd)
	}
}

// killMarked kills every process that carries the mark of a plain tree in its
// environment and returns how many those were. A process may fork and end while
// it is looked for, so what appeared meanwhile is looked at too, until a list of
// all processes has nobody new.
func killMarked(mark string) (n int) {
	seen := map[int]bool{os.Getpid(): true}
	for range markRounds {
		again := false
		for _, pid := range pids() {
			if seen[pid] {
				continue
			}
			again = true
			marked, known := killIfMarked(pid, mark)
			if seen[pid] = known; marked {
				n++
			}
		}
		if !again {
			break
		}
	}
	return n
}

// markRounds bounds killMarked where other programs start all the time.
const markRounds = 20

// kthreadd is the parent of all threads of the kernel, which have no environment.
const kthreadd = 2

// killIfMarked looks at one process. It is not known yet while it becomes
// another program: it has no environment for that moment.
func killIfMarked(pid int, mark string) (marked, known bool) {
	s, _ := readStat(pid)
	before, ok := lookup(pid)
	if !ok || pid == kthreadd || s.ppid == kthreadd {
		return false, true
	}
	env, err := os.ReadFile(procPath(pid, "environ"))
	if err != nil || !strings.Contains("\x00"+string(env), "\x00"+mark+"\x00") {
		return false, err != nil || len(env) > 0
	}
	_ = killProcess(before)
	return true, true
}
