package relayproc

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What guard and init say to each other besides the description of the relay.
const (
	plainArg     = "plain"
	controlTerm  = "term"
	controlHold  = "hold" // and a boot time: end by yourself then
	reportFailed = "failed"
)

// The descriptors the guard leaves to the init, none of which the relay gets.
const (
	fdControl = 3 // orders; its end means that the guard is gone
	fdStatus  = 4 // reports
	fdLock    = 5 // guard.lock, held for as long as the init lives
)

// RunInit is the body of the hidden command `floatrelay guard-init`: the init
// of the relay's PID namespace, or with the argument "plain" a supervisor that
// adopts orphans. It starts the relay, reaps, hands a request to end on to the
// whole tree, and ends with the relay or with the guard, whichever is first.
func RunInit(args []string) int {
	runtime.LockOSThread() // the parent-death signal of the relay hangs on this thread
	plain := len(args) > 0 && args[0] == plainArg
	keepToOurselves()
	var own *alarm
	if plain {
		adoptOrphans()
		own, _ = newAlarm()
	} else {
		unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	}
	s := &supervisor{plain: plain, alarm: own, status: os.NewFile(fdStatus, "status")}
	term := make(chan os.Signal, 1)
	signal.Notify(term, shielded...)
	control := bufio.NewReader(os.NewFile(fdControl, "control"))
	spec, err := readWireSpec(control)
	if err != nil {
		return 1 // the guard went before it gave an order
	}
	if err := s.start(spec); err != nil {
		s.report("%s %s", reportFailed, oneLine(err.Error()))
		return 1
	}
	go s.obey(control)
	go func() {
		for sig := range term {
			if sig == syscall.SIGTERM {
				s.askAll()
			}
		}
	}()
	return s.reap()
}

// keepToOurselves hides every descriptor but the standard three from the relay,
// those included that some shell above us left open.
func keepToOurselves() {
	if unix.CloseRange(fdControl, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	for _, fd := range []int{fdControl, fdStatus, fdLock} { // before Linux 5.11
		unix.CloseOnExec(fd)
	}
}

func readWireSpec(r *bufio.Reader) (wireSpec, error) {
	var spec wireSpec
	line, err := r.ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &spec)
	}
	return spec, err
}

type supervisor struct {
	plain  bool
	alarm  *alarm // of a plain supervisor: it may be stopped together with the guard
	status *os.File
	relay  int // pid as this process sees it
}

func (s *supervisor) report(format string, args ...any) {
	fmt.Fprintf(s.status, format+"\n", args...)
}

// start starts the relay in a session of its own, with nothing of ours open.
func (s *supervisor) start(spec wireSpec) error {
	pidfd := -1
	attr := &syscall.ProcAttr{
		Dir: spec.Dir, Env: spec.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd, Pdeathsig: syscall.SIGKILL},
	}
	pid, err := syscall.ForkExec(spec.Exe, append([]string{spec.Exe}, spec.Args...), attr)
	if err != nil {
		return fmt.Errorf("start %s: %w", spec.Exe, err)
	}
	s.relay = pid
	s.report("%s %d", ansStarted, hostPID(pid, pidfd))
	if pidfd >= 0 {
		unix.Close(pidfd)
	}
	return nil
}

// hostPID is the pid of a child as the host sees it. The pidfd knows: its
// fdinfo is written in terms of the mounted /proc, which is the host's.
func hostPID(pid, pidfd int) int {
	body, _ := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(pidfd))
	for line := range strings.Lines(string(body)) {
		if v, ok := strings.CutPrefix(line, "Pid:"); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && n > 0 {
				return n
			}
		}
	}
	return pid
}

// obey carries out the guard's orders and ends with it.
func (s *supervisor) obey(control *bufio.Reader) {
	for {
		line, err := control.ReadString('\n')
		if err != nil {
			s.end(1)
		}
		word, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case controlTerm:
			s.askAll()
		case controlHold:
			if ns, err := strconv.ParseInt(at, 10, 64); err == nil {
				_ = s.alarm.set(time.Duration(ns))
			}
		}
	}
}

// askAll sends SIGTERM to the whole tree, as Ctrl-Break reaches the whole group
// on Windows: a boot loader that does not hand it on is no obstacle.
func (s *supervisor) askAll() {
	if !s.plain {
		unix.Kill(-1, unix.SIGTERM)
		return
	}
	for _, pid := range descendants(os.Getpid())[1:] {
		unix.Kill(pid, unix.SIGTERM)
	}
}

// reap waits for children until the relay's first process ends; with that the
// relay has ended, whatever it left behind.
func (s *supervisor) reap() int {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			s.end(1)
		case pid == s.relay:
			s.report("%s %s", ansExited, exitText(ws))
			s.end(0)
		}
	}
}

func exitText(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return "signal: " + ws.Signal().String()
	}
	return "exit code " + strconv.Itoa(ws.ExitStatus())
}

// end ends the tree. The end of a namespace's init is the end of all; a plain
// supervisor first kills what it can reach.
func (s *supervisor) end(code int) {
	if s.plain {
		s.killAll()
	}
	os.Exit(code)
}

// killAll repeats until a pass finds nobody; the zombies are left to the guard.
func (s *supervisor) killAll() {
	for {
		below := descendants(os.Getpid())[1:]
		if len(below) == 0 {
			return
		}
		for _, pid := range below {
			unix.Kill(pid, unix.SIGKILL)
		}
		unix.Nanosleep(&unix.Timespec{Nsec: 1e6}, nil)
	}
}
