package relayproc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/convertfw/floatrelay/internal/oslock"
)

// linuxTree is a relay under a holder: the init of its PID namespace, or a
// supervisor where namespaces are not permitted.
type linuxTree struct {
	spec   wireSpec
	lock   *oslock.Lock
	events chan<- treeEvent

	mu      sync.Mutex
	holder  int // pid of the init or supervisor; zero before and after its life
	plain   bool
	killed  bool
	asked   bool
	control *os.File
	orders  *outbox       // onto control, once the holder has its description
	until   time.Duration // when a supervisor has to end by itself
	cg      *cgroup
}

// modes are tried in this order. The flags are those of clone(2).
var modes = []struct {
	flags uintptr
	plain bool
}{
	{flags: syscall.CLONE_NEWPID},                         // root
	{flags: syscall.CLONE_NEWPID | syscall.CLONE_NEWUSER}, // anybody, where the system lets them
	{plain: true},
}

func startTree(spec wireSpec, lock *oslock.Lock, events chan<- treeEvent) tree {
	t := &linuxTree{spec: spec, lock: lock, events: events}
	go t.live()
	return t
}

// live forks the holder and waits for it on one and the same OS thread: the
// kernel's parent-death signal fires when that thread ends.
func (t *linuxTree) live() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status, err := t.fork()
	if err != nil {
		t.events <- treeEvent{kind: treeFailed, note: err.Error()}
		t.events <- treeEvent{kind: treeDead}
		return
	}
	heard := make(chan struct{})
	go func() { defer close(heard); t.listen(status) }()
	t.events <- treeEvent{kind: treeForked, pid: t.holderPID(), note: t.mode()}
	t.tellSpec()
	t.reap()
	<-heard // only the holder had the other end, so this ends with it
	status.Close()
	t.mu.Lock()
	t.control.Close()
	if t.orders != nil {
		t.orders.flush(0)
	}
	cg := t.cg
	t.mu.Unlock()
	cg.remove()
	t.events <- treeEvent{kind: treeDead}
}

// fork starts the holder in the first mode the system permits.
func (t *linuxTree) fork() (status *os.File, err error) {
	var all []error
	for _, m := range modes {
		if t.spec.Plain && !m.plain {
			continue
		}
		status, err := t.forkMode(m.flags, m.plain)
		if err == nil {
			return status, nil
		}
		all = append(all, err)
	}
	return nil, fmt.Errorf("start the relay's supervisor: %w", errors.Join(all...))
}

func (t *linuxTree) forkMode(flags uintptr, plain bool) (*os.File, error) {
	ctlR, ctlW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open control pipe: %w", err)
	}
	defer ctlR.Close()
	stR, stW, err := os.Pipe()
	if err != nil {
		ctlW.Close()
		return nil, fmt.Errorf("open status pipe: %w", err)
	}
	defer stW.Close()
	null, err := os.Open(os.DevNull)
	if err == nil {
		defer null.Close()
		err = t.exec(flags, plain, []uintptr{null.Fd(), 2, 2, ctlR.Fd(), stW.Fd(), t.lock.File().Fd()})
	}
	if err != nil {
		ctlW.Close()
		stR.Close()
		return nil, err
	}
	t.control = ctlW
	return stR, nil
}

func (t *linuxTree) exec(flags uintptr, plain bool, files []uintptr) error {
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: files, Sys: &syscall.SysProcAttr{
		Cloneflags: flags, Setsid: true,
	}}
	if flags&syscall.CLONE_NEWUSER != 0 {
		uid, gid := os.Getuid(), os.Getgid()
		attr.Sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.Sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	argv := []string{os.Args[0], InitArg}
	if plain {
		adoptOrphans()
		t.cg = newCgroup()
		t.cg.into(attr.Sys)
		argv = append(argv, plainArg)
	} else {
		attr.Sys.Pdeathsig = syscall.SIGKILL
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	pid, err := syscall.ForkExec("/proc/self/exe", argv, attr)
	if err != nil && attr.Sys.UseCgroupFD {
		attr.Sys.UseCgroupFD = false // a group that takes no processes
		pid, err = syscall.ForkExec("/proc/self/exe", argv, attr)
	}
	if err != nil {
		t.cg.remove()
		t.cg = nil
		return fmt.Errorf("fork (flags %#x): %w", flags, err)
	}
	t.holder, t.plain = pid, plain
	return nil
}

// tellSpec lets the holder start the relay, unless it is to die already.
func (t *linuxTree) tellSpec() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.killed {
		t.killLocked()
		return
	}
	spec := t.spec
	if t.plain {
		spec.Env = append(slices.Clone(spec.Env), spec.Mark)
	}
	body, err := json.Marshal(spec)
	if err == nil {
		_, err = t.control.Write(append(body, '\n'))
	}
	if err != nil {
		t.killLocked()
		return
	}
	t.orders = newOutbox(t.control)
	t.holdLocked()
}

// hold tells a supervisor its own deadline. A namespace's init needs none: it
// ends with the guard. The outbox is there for a supervisor that is stopped and
// reads nothing, so that the guard does not wait for it.
func (t *linuxTree) hold(until time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = until
	t.holdLocked()
}

func (t *linuxTree) holdLocked() {
	if t.plain && t.orders != nil && t.until != 0 {
		t.orders.put(controlHold, fmt.Sprintf("%s %d", controlHold, int64(t.until)))
	}
}

// listen reads what the holder reports.
func (t *linuxTree) listen(status *os.File) {
	lines := make(chan string)
	done := make(chan struct{})
	defer close(done)
	go readLines(status, lines, done)
	for line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case ansStarted:
			pid, _ := strconv.Atoi(rest)
			t.events <- treeEvent{kind: treeStarted, pid: pid}
		case ansExited, reportFailed:
			kind := treeExited
			if word == reportFailed {
				kind = treeFailed
			}
			t.events <- treeEvent{kind: kind, note: rest}
		}
	}
}

// reap waits until no child is left. In a namespace the holder's end is the end
// of all; else what it adopted comes to us when it dies.
func (t *linuxTree) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return // ECHILD
		case pid == t.holderPID():
			t.mu.Lock()
			t.holder = 0
			plain := t.plain
			t.mu.Unlock()
			if !plain {
				return
			}
			t.events <- treeEvent{kind: treeOrphaned}
		}
	}
}

// mode is holderWhole if the kernel ends the tree with its holder.
func (t *linuxTree) mode() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plain {
		return ""
	}
	return holderWhole
}

func (t *linuxTree) holderPID() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.holder
}

func (t *linuxTree) ask() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked || t.orders == nil {
		return nil
	}
	t.asked = true
	t.orders.put("", controlTerm)
	return nil
}

func (t *linuxTree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.killLocked()
}

// killLocked kills the holder, which is not reaped before t.holder is zeroed
// under the same lock, so the pid cannot be another's.
func (t *linuxTree) killLocked() {
	t.killed = true
	if t.plain {
		killPlain(t.cg, t.holder)
		return
	}
	if t.holder != 0 {
		unix.Kill(t.holder, unix.SIGKILL)
	}
}

func (t *linuxTree) owns(pid int) bool {
	t.mu.Lock()
	holder, plain := t.holder, t.plain
	t.mu.Unlock()
	if plain {
		return pid != os.Getpid() && descendsFrom(pid, os.Getpid())
	}
	return holder != 0 && descendsFrom(pid, holder)
}

func (t *linuxTree) members() []int {
	t.mu.Lock()
	holder, plain := t.holder, t.plain
	t.mu.Unlock()
	switch {
	case plain:
		return descendants(os.Getpid())[1:]
	case holder != 0:
		return []int{holder} // its end is the end of all
	}
	return nil
}
