package relayproc

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
)

const (
	// A relay that dies this soon after its start, while a port was still in
	// TIME_WAIT when it started, failed to bind and is started again. A onefile
	// program unpacks itself under a virus scanner for 15 to 20 s before it binds.
	bindFailure = 30 * time.Second
	// TIME_WAIT lasts 60 s on Linux and up to 240 s on Windows.
	waitPatience = 250 * time.Second
	respawnFirst = 250 * time.Millisecond
	respawnMax   = 2 * time.Second
)

// spawn is the guard's memory about starting the relay.
type spawn struct {
	at      time.Duration // boot time of the last start; zero before the first
	next    time.Duration // boot time before which none is tried
	first   time.Duration // boot time since when a start is wanted
	pause   time.Duration // of the next wait for a port
	mayWait bool          // a port was in TIME_WAIT at the start: an early end is no crash
	again   bool          // the tree that ends now is followed by another
	// orphaned: the tree's holder is dead, and what it held is being killed. Why
	// is not said before all of it is dead.
	orphaned bool
	waiting  string // last note about waiting, to say it once
}

// doomed reports whether a tree is being killed although the guard goes on: as
// any kill, that has to be repeated, since what forks meanwhile escapes one pass.
func (g *guard) doomed() bool { return g.tree != nil && (g.spawn.again || g.spawn.orphaned) }

// advance does what is due: start the relay, repeat a kill, or find that all is
// over.
func (g *guard) advance(now time.Duration) {
	switch {
	case g.ending && g.tree != nil:
		if g.killAt <= now {
			g.killAt = 0
			g.tree.kill()
			g.allowKill()
		}
	case g.ending:
		g.bury(now)
	case g.doomed():
		g.tree.kill()
	case g.tree != nil:
	case g.deadline == 0:
		if now-g.born > specPatience {
			g.end(Failed, "the daemon sent no deadline", 0)
		}
	case now >= g.deadline:
		if now-g.born > specPatience {
			g.end(Deadline, "no deadline ahead has come", 0)
		}
	default:
		g.trySpawn(now)
	}
}

// trySpawn starts the relay once the lock is ours and nobody has the ports.
func (g *guard) trySpawn(now time.Duration) {
	if g.spawn.first == 0 {
		g.spawn.first = now
	}
	if now < g.spawn.next || !g.haveLock(now) || !g.havePorts(now) {
		return
	}
	if clock.Boot() >= g.deadline {
		return // looking at lock and ports took too long; a later one may come
	}
	g.spawn.at, g.spawn.again, g.spawn.orphaned, g.deadAt = now, false, false, 0
	g.holdDeadline()
	g.tree = startTree(g.spec, g.lock, g.events)
	g.tree.hold(g.deadline + g.spec.KillMargin/2)
}

func (g *guard) haveLock(now time.Duration) bool {
	if g.lock != nil {
		return true
	}
	lock, err := takeLock(g.spec.LockPath)
	if err == nil {
		if err = clearRecorded(filepath.Dir(g.spec.LockPath)); err == nil {
			g.lock = lock
			return true
		}
		lock.Release()
	}
	if now-g.spawn.first > lockPatience || !errors.Is(err, ErrLocked) {
		g.end(Failed, err.Error(), 0)
		return false
	}
	g.wait(err.Error())
	g.spawn.next = now + 20*time.Millisecond
	return false
}

// havePorts looks before the relay does: a stranger's port is a failure that
// names him, a port in TIME_WAIT is left for the relay to try.
func (g *guard) havePorts(now time.Duration) bool {
	g.spawn.mayWait = false
	for _, port := range g.spec.ports() {
		var pe *PortError
		err := portFree(g.spec.Addr, port)
		switch {
		case err == nil:
		case errors.As(err, &pe) && pe.Kind == PortTimeWait:
			g.spawn.mayWait = true
		case now-g.spawn.first > portPatience:
			g.end(Failed, err.Error(), 0)
			return false
		default:
			g.wait(err.Error())
			g.spawn.next = now + 50*time.Millisecond
			return false
		}
	}
	return true
}

func (g *guard) wait(note string) {
	if note != g.spawn.waiting {
		g.spawn.waiting = note
		g.out.put("", ansWaiting+" "+oneLine(note))
	}
}

// relayEnded is told when the relay ended by itself. What is left of its tree
// is killed in any case.
func (g *guard) relayEnded(cause Cause, note string) {
	now := clock.Boot()
	if !g.ending && g.portInTheWay(cause, now) {
		g.spawn.pause = min(max(2*g.spawn.pause, respawnFirst), respawnMax)
		g.spawn.next = now + g.spawn.pause
		g.spawn.again = true
		g.wait("a port is in TIME_WAIT; starting the relay again when it is free: " + note)
		if g.tree != nil {
			g.tree.kill()
		}
		return
	}
	if !g.ending && cause == Exited {
		g.out.put("", ansExited+" "+oneLine(note))
	}
	g.end(cause, note, 0)
}

// portInTheWay reports whether an early end is put down to TIME_WAIT.
func (g *guard) portInTheWay(cause Cause, now time.Duration) bool {
	return cause == Exited && g.spawn.mayWait &&
		now-g.spawn.at < bindFailure && now-g.spawn.first < waitPatience
}

// bury waits for the ports after the tree is dead. A port that stays is a
// stranger's; it is named and not waited for.
func (g *guard) bury(now time.Duration) {
	if g.haveSpec && g.spawn.at != 0 {
		if h, held := anyListener(g.spec.Addr, g.spec.ports()); held {
			if now-g.deadAt < portPatience {
				return
			}
			g.note += fmt.Sprintf("; %v", h.err())
		}
	}
	if g.lock != nil {
		g.unrecord()
		g.lock.Release()
		g.lock = nil
	}
	g.over = true
}
