package relayproc

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/convertfw/floatrelay/internal/oslock"
)

// jobTree is a relay in a job object.
type jobTree struct {
	spec   wireSpec
	events chan<- treeEvent

	mu     sync.Mutex
	job    *job // nil before and after its life
	root   int  // pid of the first process, also its process group
	asked  bool
	killed bool
}

func startTree(spec wireSpec, _ *oslock.Lock, events chan<- treeEvent) tree {
	t := &jobTree{spec: spec, events: events}
	go t.live()
	return t
}

func (t *jobTree) live() {
	defer func() { t.events <- treeEvent{kind: treeDead} }()
	process, err := t.spawn()
	if err != nil {
		t.events <- treeEvent{kind: treeFailed, note: err.Error()}
		return
	}
	defer windows.CloseHandle(process)
	t.events <- treeEvent{kind: treeForked, pid: t.root}
	t.events <- treeEvent{kind: treeStarted, pid: t.root}
	_, _ = windows.WaitForSingleObject(process, windows.INFINITE)
	var code uint32
	_ = windows.GetExitCodeProcess(process, &code)
	t.events <- treeEvent{kind: treeExited, note: fmt.Sprintf("exit code %d", int32(code))}
	t.waitEmpty()
}

// onSuspended is called by tests between the creation of the relay and its job.
var onSuspended func()

// spawn puts the first process into the job before it runs one instruction.
func (t *jobTree) spawn() (windows.Handle, error) {
	j, err := newJob()
	if err != nil {
		return 0, err
	}
	pi, err := spawnSuspended(t.spec)
	if err != nil {
		j.close()
		return 0, err
	}
	defer windows.CloseHandle(pi.Thread)
	if onSuspended != nil {
		onSuspended()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err = j.add(pi.Process); err == nil && t.killed {
		err = fmt.Errorf("killed before it ran")
	}
	if err == nil {
		t.job, t.root = j, int(pi.ProcessId)
		_, err = windows.ResumeThread(pi.Thread)
	}
	if err != nil {
		t.job = nil
		windows.TerminateProcess(pi.Process, killedCode)
		_, _ = windows.WaitForSingleObject(pi.Process, windows.INFINITE)
		windows.CloseHandle(pi.Process)
		j.close()
		return 0, fmt.Errorf("start %s: %w", t.spec.Exe, err)
	}
	return pi.Process, nil
}

// waitEmpty waits until no process is left in the job, and lets it go. The
// guard kills meanwhile: a first process that ends takes its tree along.
func (t *jobTree) waitEmpty() {
	for {
		t.mu.Lock()
		if t.job.active() <= 0 {
			t.job.close()
			t.job = nil
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
	}
}

// ask sends Ctrl-Break to the relay's process group. That needs a console.
func (t *jobTree) ask() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job == nil || t.asked {
		return nil
	}
	t.asked = true
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(t.root)); err != nil {
		return fmt.Errorf("send Ctrl-Break: %w", err)
	}
	return nil
}

// hold has nobody to tell: the job ends with the guard.
func (t *jobTree) hold(time.Duration) {}

func (t *jobTree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.killed = true
	if t.job != nil {
		t.job.kill()
	}
}

func (t *jobTree) owns(pid int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.job != nil && t.job.has(pid)
}

func (t *jobTree) members() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job == nil {
		return nil
	}
	return t.job.members()
}
