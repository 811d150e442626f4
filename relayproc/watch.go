package relayproc

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
)

const (
	watchRhythm = 100 * time.Millisecond
	// watchRest is the same while the guard owes no answer and no stop: every
	// answer wakes the watch anyway.
	watchRest = 400 * time.Millisecond
	// A guard that answers nothing for this many beats of the rhythm is frozen.
	// Counted, not measured: after a sleep of the host both wake together.
	frozenAfter = 20
	// A guard that never answered yet may be held up by an antivirus. No relay
	// runs before its first answer.
	startAfter = 150
	// How long a guard may take to report the end of a tree that the daemon
	// has already killed, or to carry out a stop.
	reportPatience = 3 * time.Second
)

// watch looks after one guard. Its goroutine owns the fields.
type watch struct {
	g *Guard

	holder  *grip // of the process whose end is the tree's, once reported
	whole   bool  // killing the holder kills the tree
	silent  int   // beats since the guard owes an answer
	owed    uint64
	killed  bool // the guard was killed by us
	cause   Cause
	why     string
	verdict *verdict // health has decided that the relay must go
	healthy context.CancelFunc
}

func (w *watch) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer func() { w.holder.close() }()
	timer := time.NewTimer(watchRhythm)
	defer timer.Stop()
	beat := clock.Boot() + watchRhythm
	for {
		select {
		case line, ok := <-w.g.lines:
			if !ok {
				w.g.lines = nil
			} else if w.hear(ctx, line) {
				return
			}
		case v := <-w.g.health:
			w.judge(v)
		case <-w.g.gone:
			if !w.drain(ctx) {
				w.bury(ctx)
			}
			return
		case <-w.g.moved:
		case <-timer.C:
		}
		now := clock.Boot()
		if now >= beat {
			beat = now + watchRhythm
			w.countSilence()
		}
		w.enforce(now)
		timer.Reset(w.nap(now, beat))
	}
}

// nap sleeps until the next beat or the moment the deadline is enforced here.
func (w *watch) nap(now, beat time.Duration) time.Duration {
	w.g.mu.Lock()
	until, margin := w.g.until, w.g.spec.KillMargin
	busy := w.g.seq != w.g.acked || w.g.stop
	w.g.mu.Unlock()
	d := beat - now
	if !busy {
		d = watchRest
	}
	for _, at := range []time.Duration{until + margin/2, until + margin*3/4} {
		if at >= now {
			d = min(d, at-now)
		}
	}
	return max(d, time.Millisecond)
}

// countSilence notices a guard that answers no more.
func (w *watch) countSilence() {
	w.g.mu.Lock()
	seq, acked := w.g.seq, w.g.acked
	w.g.mu.Unlock()
	if seq == acked || acked != w.owed {
		w.silent, w.owed = 0, acked
		return
	}
	limit := frozenAfter
	if acked == 0 {
		limit = startAfter
	}
	if w.silent++; w.silent >= limit {
		w.killGuard("it did not answer and was killed")
	}
}

// enforce ends the tree from here when the guard should have and did not: past
// the deadline, or past a stop.
func (w *watch) enforce(now time.Duration) {
	w.g.mu.Lock()
	until, stop, stopT := w.g.until, w.g.stop, w.g.stopT
	w.g.mu.Unlock()
	margin := w.g.spec.KillMargin
	if late := now - until - margin/2; late >= 0 {
		w.holder.kill()
		if !w.whole && late > margin/4 || late > reportPatience {
			w.cause = Deadline
			w.killGuard("it let the deadline pass and was killed")
		}
	}
	if stop && now-stopT > reportPatience {
		w.killGuard("it did not carry out a stop and was killed")
	}
}

func (w *watch) killGuard(why string) {
	if w.whole {
		w.holder.kill()
	}
	if !w.killed {
		w.killed, w.why = true, why
		w.g.proc.Kill()
	}
}

// hear takes one answer of the guard; true after the last.
func (w *watch) hear(ctx context.Context, line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case ansForked:
		w.hold(rest)
	case ansStarted:
		pid, _ := strconv.Atoi(rest)
		w.g.emit.put(Started{PID: pid})
		w.lookAfter(ctx, pid)
	case ansAcked:
		w.ack(rest)
	case ansOwns:
		if pid, yes, ok := strings.Cut(rest, " "); ok {
			n, _ := strconv.Atoi(pid)
			w.g.answer(n, yes == "yes")
		}
	case ansWaiting:
		w.g.emit.put(Waiting{Note: rest})
	case ansDead:
		w.down(rest)
		return true
	}
	return false
}

// hold takes hold of the process at the head of the tree, anew for each start.
func (w *watch) hold(rest string) {
	pid, mode, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(pid)
	if err != nil {
		return
	}
	w.holder.close()
	w.holder = openGrip(n, w.g.proc.Pid)
	w.whole = mode == holderWhole && w.holder != nil
}

func (w *watch) ack(rest string) {
	seq, err := strconv.ParseUint(rest, 10, 64)
	if err != nil {
		return
	}
	w.g.mu.Lock()
	w.g.acked = max(w.g.acked, seq)
	w.g.mu.Unlock()
	w.g.emit.put(Acked{Seq: seq})
}

// lookAfter starts the health checks, anew for each start of the relay.
func (w *watch) lookAfter(ctx context.Context, first int) {
	if w.healthy != nil {
		w.healthy()
	}
	ctx, w.healthy = context.WithCancel(ctx)
	h := &health{g: w.g, spec: w.g.spec, first: first}
	w.g.wg.Go(func() { h.run(ctx) })
}

// judge passes on what health found. A relay that was asked to end and closes
// its ports is doing what it was told.
func (w *watch) judge(v verdict) {
	w.g.mu.Lock()
	stop := w.g.stop
	w.g.mu.Unlock()
	if stop {
		return
	}
	if v.ready {
		w.g.in.put("", "ready")
		w.g.emit.put(Ready{PID: v.pid})
		return
	}
	if w.verdict == nil {
		w.verdict = &v
		w.g.emit.put(Unready{Note: v.note})
		w.g.Kill()
	}
}

// drain reads what the guard said before it ended; true if that was its last
// word.
func (w *watch) drain(ctx context.Context) bool {
	if w.g.lines == nil {
		return false
	}
	t := time.NewTimer(time.Second)
	defer t.Stop()
	for {
		select {
		case line, ok := <-w.g.lines:
			if !ok {
				return false
			}
			if w.hear(ctx, line) {
				return true
			}
		case <-t.C:
			return false
		}
	}
}

// down emits the last event of a guard that reported properly.
func (w *watch) down(rest string) {
	name, note, _ := strings.Cut(rest, " ")
	cause, ok := causeNamed(name)
	if !ok {
		cause = GuardLost
	}
	if w.verdict != nil && cause == Stopped {
		cause, note = w.verdict.cause, w.verdict.note
	}
	w.finish(cause, note)
}

func (w *watch) finish(cause Cause, note string) {
	w.g.emit.put(Down{Cause: cause, Note: note})
	close(w.g.ended)
}

// expired reports whether the newest deadline has passed.
func (w *watch) expired() bool {
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	return clock.Boot() >= w.g.until
}

// marksGone is how often in a row no process of a lost tree must be found: one
// look can miss a process that is being forked, or that is just becoming another
// program and has no environment for a moment.
const marksGone = 5

// bury follows the end of a guard that reported nothing: whatever it left is
// killed, and Down comes only when that is dead and the ports are closed.
func (w *watch) bury(ctx context.Context) {
	note := w.g.exit
	switch {
	case w.why != "":
		note = w.why
	case w.expired():
		w.cause, note = Deadline, "the system ended the guard at its deadline"
	}
	dir := filepath.Dir(w.g.spec.LockPath)
	var clear time.Duration
	looks := 0 // that found nothing, in a row
	for tick := time.NewTicker(killRhythm); ; <-tick.C {
		w.holder.kill()
		marked, enough := 0, 1
		if !w.whole {
			marked, enough = killMarked(w.g.mark), marksGone
		}
		if looks++; marked > 0 {
			looks = 0
		}
		if looks < enough || w.holder.alive() || !w.unlocked() {
			continue
		}
		if clear == 0 {
			clear = clock.Boot()
		}
		h, held := anyListener(w.g.spec.Addr, w.g.spec.ports())
		if held && clock.Boot()-clear < portPatience {
			continue
		}
		if held {
			note = fmt.Sprintf("%s; %v", note, h.err())
		}
		tick.Stop()
		break
	}
	removeRecord(dir)
	w.finish(w.cause, note)
}

// unlocked reports that neither the lost guard nor its tree holds the lock. A
// lock that cannot be looked at any more proves nothing and holds up nothing.
func (w *watch) unlocked() bool {
	lock, err := takeLock(w.g.spec.LockPath)
	if err != nil {
		return !errors.Is(err, ErrLocked)
	}
	defer lock.Release()
	return clearRecorded(filepath.Dir(w.g.spec.LockPath)) == nil
}
