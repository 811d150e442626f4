package relayproc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/oslock"
	"github.com/convertfw/floatrelay/internal/procs"
)

const (
	lockPatience = 2 * time.Second      // for a lock that is about to be released
	portPatience = 1 * time.Second      // for a port that is about to be closed
	specPatience = 10 * time.Second     // for the first lines of the daemon
	willPatience = 15 * time.Second     // for the last will
	lastWords    = 2 * time.Second      // for a daemon that may not read any more
	alarmGrace   = 20                   // part of KILL_MARGIN by which the kernel acts after the guard
	alarmGrace2  = 4                    // the same where the guard's end is not the tree's
	killRhythm   = 5 * time.Millisecond // how often a kill is looked after
)

// Will carries out the last will: payload is what the daemon sent last.
type Will func(ctx context.Context, payload []byte) error

// RunGuard is the body of the hidden command `floatrelay guard`, which enforces the
// deadline of rule 2 and, once its daemon is gone, rule 7. It reads the
// daemon's orders from stdin, answers on stdout, and hands its own stderr to
// the relay. It returns one of the Code constants once the relay's tree is dead
// and both ports are closed; will is called after that, only if the daemon is
// gone and left a payload.
func RunGuard(stdin io.Reader, stdout io.Writer, will func(ctx context.Context, payload []byte) error) int {
	defer shieldFromConsole()()
	procs.OneThread()
	done := make(chan struct{})
	defer close(done)
	g := &guard{
		out:    newOutbox(stdout),
		lines:  make(chan string, 64),
		events: make(chan treeEvent, treeQueue),
		born:   clock.Boot(),
	}
	g.alarm, _ = newAlarm() // without one the loop looks at the clock more often
	if err := confine(); err != nil {
		g.end(Failed, "confine the guard: "+err.Error(), 0)
	}
	go readLines(stdin, g.lines, done)
	g.run()
	return g.finish(will)
}

// guard is the state of one RunGuard. One goroutine owns it.
type guard struct {
	out    *outbox
	lines  chan string
	events chan treeEvent
	born   time.Duration

	spec     wireSpec
	haveSpec bool
	deadline time.Duration // boot time; zero before the first
	payload  []byte
	eof      bool

	lock     *oslock.Lock
	tree     tree      // nil while none lives
	alarm    *alarm    // the kernel's hold on the deadline; nil where there is none
	recorder *recorder // nil before the first record
	spawn    spawn
	loose    bool // the tree's processes can outlive its holder
	killing  bool // the last kill was sent
	ending   bool // the cause is decided, the tree is being ended
	cause    Cause
	note     string
	killAt   time.Duration // boot time of the kill after a graceful stop; zero at once
	deadAt   time.Duration // boot time the tree was seen dead
	over     bool
}

// run is the loop. The deadline is looked at first on every wake, before any
// order: orders that wait in the pipe may be older than the sleep that ended.
func (g *guard) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		g.expire(clock.Boot())
		g.advance(clock.Boot())
		if g.over {
			return
		}
		timer.Reset(g.nap(clock.Boot()))
		select {
		case line, ok := <-g.lines:
			g.expire(clock.Boot())
			g.obey(line, ok)
		case ev := <-g.events:
			g.expire(clock.Boot())
			g.onTree(ev)
		case <-timer.C:
		}
	}
}

// expire ends the tree when its deadline has passed. That is final. Before the
// first tree there is nothing to end: on a PC so slow that the first deadline
// has passed when the guard reads it, a later one is in the pipe behind it.
func (g *guard) expire(now time.Duration) {
	if g.deadline != 0 && now >= g.deadline && g.spawn.at != 0 {
		g.end(Deadline, fmt.Sprintf("deadline passed %v ago", now-g.deadline), 0)
	}
}

// end decides why and how the tree ends. The first cause stays; a later call
// can only make it faster.
func (g *guard) end(cause Cause, note string, killAt time.Duration) {
	if !g.ending {
		g.ending, g.cause, g.note, g.killAt = true, cause, note, killAt
	}
	g.killAt = min(g.killAt, killAt)
	if g.tree == nil {
		return
	}
	if g.killAt != 0 {
		if err := g.tree.ask(); err != nil {
			g.note += "; killed at once: " + err.Error()
			g.killAt = 0
		}
	}
	if g.killAt == 0 {
		g.tree.kill()
		g.allowKill()
	}
}

// nap is how long the loop may sleep. A running relay whose deadline the kernel
// holds needs nothing before that. Else it is a quarter of KILL_MARGIN at most,
// because timers stand still while the host sleeps.
func (g *guard) nap(now time.Duration) time.Duration {
	d := 50 * time.Millisecond
	switch {
	case g.tree != nil && g.alarm != nil:
		d = time.Hour
	case g.haveSpec:
		d = g.spec.KillMargin / 4
	}
	if g.ending || g.deadAt != 0 || g.doomed() {
		d = min(d, killRhythm)
	}
	if g.deadline != 0 && !g.ending {
		d = min(d, g.deadline-now)
	}
	return max(d, 0)
}

// holdDeadline has the kernel end this process, and with it the tree, shortly
// after the deadline, whether anybody acts or not. It comes before the tree is
// started and before a new deadline is acknowledged. The moment's grace is for
// the guard itself, which can also say why, and clean up.
func (g *guard) holdDeadline() {
	grace := g.spec.KillMargin / alarmGrace
	if g.loose {
		grace = g.spec.KillMargin / alarmGrace2
	}
	g.setAlarm(g.deadline + grace)
	if g.tree != nil {
		g.tree.hold(g.deadline + g.spec.KillMargin/2)
	}
}

// allowKill gives a kill that was sent the time it may take.
func (g *guard) allowKill() {
	if !g.killing {
		g.killing = true
		g.setAlarm(max(g.deadline, clock.Boot()) + g.spec.KillMargin)
	}
}

// setAlarm moves the alarm; one that cannot be moved is given up, and the loop
// looks at the clock itself.
func (g *guard) setAlarm(at time.Duration) {
	if err := g.alarm.set(at); err != nil {
		g.alarm = nil
	}
}

// obey carries out one line; ok is false at the end of input.
func (g *guard) obey(line string, ok bool) {
	if !ok {
		g.lines, g.eof = nil, true
		g.end(Stopped, "the daemon is gone", 0)
		return
	}
	if !g.haveSpec {
		g.readSpec(line)
		return
	}
	o, err := parseOrder(line)
	if err != nil {
		g.out.put("", ansWaiting+" "+oneLine(err.Error()))
		return
	}
	switch o.kind {
	case "until":
		g.until(o)
	case "will":
		g.payload = o.will
	case "stop":
		g.end(Stopped, "stopped on request", clock.Boot()+o.grace)
	case "kill":
		g.end(Stopped, "killed on request", 0)
	case "ready":
		g.spawn.mayWait = false
		g.record()
	case "owns":
		g.answerOwns(o.pid)
	}
}

func (g *guard) readSpec(line string) {
	if err := json.Unmarshal([]byte(line), &g.spec); err != nil {
		g.end(Failed, "read the description of the relay: "+err.Error(), 0)
		return
	}
	if g.spec.KillMargin <= 0 {
		g.spec.KillMargin = 200 * time.Millisecond
	}
	g.haveSpec = true
}

// until moves the deadline, either way, and says so. A tree that is being
// ended is not saved by it.
func (g *guard) until(o order) {
	if g.ending && g.killAt == 0 {
		return
	}
	g.deadline = max(o.until, 1)
	g.expire(clock.Boot())
	if g.tree != nil && !g.killing {
		g.holdDeadline()
	}
	if !g.ending || g.killAt != 0 { // asked to end, it may take until its deadline
		g.out.put(ansAcked, fmt.Sprintf("%s %d", ansAcked, o.seq))
	}
}

func (g *guard) answerOwns(pid int) {
	answer := "no"
	if g.tree != nil && g.tree.owns(pid) {
		answer = "yes"
	}
	g.out.put("", fmt.Sprintf("%s %d %s", ansOwns, pid, answer))
}

// onTree takes note of what the tree reports.
func (g *guard) onTree(ev treeEvent) {
	switch ev.kind {
	case treeForked:
		if g.loose = ev.note != holderWhole; g.loose && g.tree != nil && !g.killing {
			g.holdDeadline()
		}
		g.record()
		g.out.put("", fmt.Sprintf("%s %d %s", ansForked, ev.pid, ev.note))
	case treeStarted:
		g.record()
		g.out.put("", fmt.Sprintf("%s %d", ansStarted, ev.pid))
	case treeExited:
		g.relayEnded(Exited, ev.note)
	case treeFailed:
		g.relayEnded(Failed, ev.note)
	case treeOrphaned:
		g.spawn.orphaned = true
		g.tree.kill()
	case treeDead:
		g.tree, g.deadAt = nil, clock.Boot()
		g.setAlarm(0)
		if !g.ending && !g.spawn.again {
			g.relayEnded(Exited, "the relay was killed by somebody else")
		}
	}
}

// finish says the last words and carries out the last will. The lock is already
// released: a daemon that comes back need not wait for a slow share.
func (g *guard) finish(will Will) int {
	g.out.put("", fmt.Sprintf("%s %s %s", ansDead, g.cause, oneLine(g.note)))
	g.out.flush(lastWords)
	if g.eof && g.haveSpec {
		return g.lastWill(will)
	}
	switch {
	case !g.haveSpec:
		return CodeSpec
	case g.cause == Deadline:
		return CodeDeadline
	case g.cause == Exited:
		return CodeExited
	case g.cause == Failed:
		return CodeFailed
	}
	return CodeStopped
}

func (g *guard) lastWill(will Will) int {
	if will == nil || g.payload == nil {
		return CodeOrphaned
	}
	ctx, cancel := context.WithTimeout(context.Background(), willPatience)
	defer cancel()
	if err := will(ctx, g.payload); err != nil {
		return CodeWill
	}
	return CodeOrphaned
}
