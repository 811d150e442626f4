package simnet

import (
	"fmt"
	"time"
)

// FaultKind is one way in which a world goes wrong.
type FaultKind uint8

// The kinds of fault.
const (
	Split       FaultKind = iota // two groups of nodes cannot hear each other
	Isolate                      // one node cannot be heard and hears nothing
	Deaf                         // one node hears nothing but is heard
	Mute                         // one node is not heard but hears
	OneWay                       // one direction between two nodes
	CutShare                     // one node does not reach the share
	CutAll                       // one node reaches neither the LAN nor the share
	StallShare                   // nobody's calls on the share return
	StallOne                     // one node's calls on the share do not return
	WipeShare                    // the folder's contents are deleted
	CrashDaemon                  // kill -9, restarted afterwards
	FreezeHost                   // the PC sleeps
	FreezeOne                    // the daemon stands still, its guard lives
	CrashHost                    // power cut, rebooted afterwards
	CrashGuard                   // the guard dies, and its relay with it
	BreakPipe                    // the guard believes that the daemon is gone
	CrashRelay                   // the relay ends by itself
	HandOff                      // somebody asks for a handoff
	Retire                       // a daemon stops gracefully, started again afterwards
	Drain                        // a member may not lead for a while
	Restart                      // every daemon restarts
	RestoreOld                   // an old backup of the folder is restored
	Rotate                       // a daemon starts again with the other token
	FreezeGuard                  // a guard stands still, its daemon lives
	GoOffline                    // the PC's Offline Files cache answers instead of the server
	MoveFolder                   // one PC's LEASE_DIR is another, empty folder for a while
	RollOver                     // every daemon stops gracefully and starts again, one after the other
	faultKinds
)

var faultNames = [...]string{
	"split", "isolate", "deaf", "mute", "one-way", "cut-share", "cut-all", "stall-share", "stall-one", "wipe-share",
	"crash-daemon", "freeze-host", "freeze-daemon", "crash-host", "crash-guard", "break-pipe", "crash-relay",
	"handoff", "retire", "drain", "restart-all", "restore-backup",
	"rotate-token", "freeze-guard", "offline-copy", "move-folder", "roll-over",
}

// String returns the kind's name as printed with the options.
func (k FaultKind) String() string { return faultNames[k] }

// Fault is one entry of the schedule.
type Fault struct {
	At, For time.Duration
	Kind    FaultKind
	// Leader aims at whoever runs the relay at that instant; otherwise, or if
	// nobody does, at node Arg modulo the number of nodes.
	Leader bool
	Arg    uint64
}

// String prints a fault as one line of the schedule.
func (f Fault) String() string {
	who := fmt.Sprintf("#%d", f.Arg)
	if f.Leader {
		who = "leader"
	}
	return fmt.Sprintf("%10.6f for %-12v %v %s", f.At.Seconds(), f.For, f.Kind, who)
}

// menu is what a mode draws its faults from; a kind named twice is drawn twice
// as often.
func (m Mode) menu() []FaultKind {
	switch m {
	case Sleep:
		return []FaultKind{FreezeHost, FreezeHost, FreezeHost, FreezeOne, FreezeOne, CutShare, CutAll, Isolate}
	case Busy:
		return []FaultKind{CrashDaemon, CrashDaemon, CrashHost, CrashGuard, BreakPipe, CrashRelay, HandOff, HandOff, Retire, Drain, Restart, FreezeOne, CutShare}
	case Slow:
		return []FaultKind{StallShare, StallOne, CutShare, CutAll, Isolate, Split, FreezeHost, CrashDaemon}
	case Race:
		return []FaultKind{HandOff, HandOff, Retire, CrashDaemon, CrashHost, FreezeHost, FreezeOne, Isolate, Mute, StallOne, StallShare, CutShare, BreakPipe}
	case Hibernate:
		return []FaultKind{FreezeHost, FreezeHost, FreezeOne, StallOne, HandOff, CrashHost}
	case Damage:
		return []FaultKind{Split, Isolate, Isolate, Mute, CutShare, StallOne, CrashDaemon, CrashHost}
	case Folders:
		return []FaultKind{Split, Isolate, CrashDaemon, CrashHost, FreezeHost, CutShare}
	case Clones:
		return []FaultKind{Split, Isolate, OneWay, CutShare, CutAll, CrashDaemon, CrashHost, FreezeHost, FreezeOne, BreakPipe, HandOff, Retire}
	case Tokens:
		return []FaultKind{Rotate, Rotate, Rotate, Isolate, CutShare, CrashHost, FreezeHost, HandOff, CrashDaemon}
	case Guards:
		return []FaultKind{FreezeGuard, FreezeGuard, FreezeGuard, FreezeOne, CutShare, CutAll, Isolate, StallShare, CrashGuard, BreakPipe, HandOff, CrashDaemon}
	case Preempt:
		return []FaultKind{Drain, Drain, Retire, CrashHost, CrashDaemon, HandOff, Isolate, CutShare, FreezeOne, Restart}
	case Offline:
		return []FaultKind{GoOffline, GoOffline, GoOffline, CutAll, Isolate, Isolate, Split, CrashDaemon, CrashHost, HandOff, FreezeHost}
	case Moved:
		return []FaultKind{MoveFolder, MoveFolder, MoveFolder, HandOff, CrashRelay, Drain}
	case Rotation:
		return []FaultKind{Isolate, Split, CutShare, CrashHost, FreezeHost, HandOff, CrashDaemon, Retire}
	case Emptied:
		return []FaultKind{CutShare, CutShare, StallOne, Split, Isolate, FreezeHost, CrashDaemon, CrashHost, HandOff}
	case Torn:
		return []FaultKind{FreezeHost, FreezeHost, CrashHost, CutShare, StallOne, Isolate, HandOff, CrashDaemon}
	case Upkeep:
		return []FaultKind{RollOver, RollOver, Retire, Retire, Drain, HandOff, CrashHost, CrashDaemon, CutShare, Isolate, FreezeOne}
	case Unfit:
		return []FaultKind{CrashDaemon, CrashHost, CrashGuard, HandOff, HandOff, Retire, Drain, FreezeOne, CutShare, Isolate}
	case Noise:
		return nil
	case Failover:
		return []FaultKind{CrashHost}
	case Restore:
		return []FaultKind{RestoreOld, Split, Isolate, CutShare, CrashDaemon}
	}
	return []FaultKind{
		Split, Isolate, Deaf, Mute, OneWay, CutShare, CutAll, StallShare, StallOne, WipeShare, CrashDaemon, FreezeHost, FreezeOne,
		CrashHost, CrashGuard, BreakPipe, CrashRelay, HandOff, Retire, Drain, Restart,
	}
}

// drawFaults expands the seed's schedule. Half of the mode's menu is struck out
// first: a world with a few kinds of fault reaches corners that a world with
// all of them tramples over.
func drawFaults(d dice, o Options) []Fault {
	if o.Mode == Failover {
		return []Fault{{At: 15*time.Second + d.between(0, 5*time.Second), For: time.Minute, Kind: CrashHost, Leader: true}}
	}
	var menu []FaultKind
	for _, k := range o.Mode.menu() {
		if d.chance(0.5) {
			menu = append(menu, k)
		}
	}
	switch o.Mode {
	case Emptied:
		menu = append(menu, WipeShare)
	case Rotation:
		menu = append(menu, Rotate, Rotate)
	}
	if len(menu) == 0 {
		return nil
	}
	gap := oneOf(d, time.Second, 3*time.Second, 8*time.Second)
	aim := oneOf(d, 0.3, 0.7, 0.95)
	var faults []Fault
	wiped := -wipeApart
	for at := d.between(time.Second, 8*time.Second); at < o.Safety; at += d.spread(time.Millisecond, 2*gap) {
		f := Fault{At: at, Kind: oneOf(d, menu...), Leader: d.chance(aim), Arg: d.Uint64N(1 << 16)}
		f.For = d.spread(o.Figures.Fence/8, 2*o.Figures.TTL)
		if o.Mode == Hibernate {
			at += d.between(0, 20*time.Second)
			if f.Kind == FreezeHost || f.Kind == FreezeOne {
				f.For = d.between(60*time.Second, 150*time.Second)
			}
		}
		if o.Mode == Emptied || o.Mode == Torn || o.Mode == Upkeep || o.Mode == Moved {
			at += d.between(0, 10*time.Second)
			if d.chance(0.5) {
				f.For = d.between(20*time.Second, 120*time.Second)
			}
		}
		if o.Mode == Offline && d.chance(0.3) {
			f.For = d.between(60*time.Second, 180*time.Second)
		}
		if f.Kind == WipeShare {
			if f.At < wiped+wipeApart {
				continue
			}
			wiped = f.At
		}
		faults = append(faults, f)
		if len(faults) == 60 {
			break
		}
	}
	return faults
}

// wipeApart is the least time between two wipes of the folder. A member cannot
// see that a chain was founded and wiped between two of its listings (which may
// be 10 s old); twice within TTL_MAX' it would take a lease that runs for none. A
// world that starts without a chain counts as wiped at its start, but may draw a
// wipe before a minute is over: if two relays run then, it is that exception.
const wipeApart = time.Minute

// seenBy is when every member whose share answers has seen a new chain: POLL
// while gossip names a leader, and a listing as old as caches serve it.
const seenBy = 20 * time.Second

// strike carries a fault out and schedules its end.
func (w *World) strike(f Fault) {
	if w.healed {
		return
	}
	h := w.aim(f)
	if w.trace.level >= Story {
		w.story("FAULT %v %s for %v", f.Kind, h.name, f.For)
	}
	if w.strikeNet(f, h) || w.strikeShare(f, h) {
		return
	}
	w.strikeProcess(f, h)
}

// aim finds the fault's victim.
func (w *World) aim(f Fault) *host {
	if f.Leader && len(w.relays) > 0 {
		return w.relays[0].guard.host
	}
	return w.hosts[f.Arg%uint64(len(w.hosts))]
}

func (w *World) strikeNet(f Fault, h *host) bool {
	n := len(w.hosts)
	var cut func(from, to int) bool
	switch f.Kind {
	case Split:
		cut = func(a, b int) bool { return f.Arg>>(a%16)&1 != f.Arg>>(b%16)&1 }
	case Isolate, CutAll:
		cut = func(a, b int) bool { return a == h.idx || b == h.idx }
	case Deaf:
		cut = func(_, b int) bool { return b == h.idx }
	case Mute:
		cut = func(a, _ int) bool { return a == h.idx }
	case OneWay:
		other := (h.idx + 1 + int(f.Arg>>8)%max(n-1, 1)) % n
		cut = func(a, b int) bool { return a == h.idx && b == other }
	default:
		return false
	}
	w.net.cut(cut, 1)
	w.reachabilityChanged()
	w.untilHealed(f.For, func() {
		w.net.cut(cut, -1)
		w.reachabilityChanged()
	})
	if f.Kind == CutAll {
		w.cutShare(h, f.For)
	}
	return true
}

func (w *World) strikeShare(f Fault, h *host) bool {
	switch f.Kind {
	case CutShare:
		w.cutShare(h, f.For)
	case StallShare:
		h.share.stalledUntil = max(h.share.stalledUntil, w.now+f.For)
	case StallOne:
		h.shareStall = max(h.shareStall, w.now+f.For)
	case WipeShare:
		// A chain that not every member can have seen yet is the documented
		// exception, which this mode is not about.
		if w.opt.Mode == Emptied && h.share.founded > 0 && w.now < h.share.founded+seenBy {
			return true
		}
		h.share.wipe(w.now)
	case RestoreOld:
		h.share.restore(w.now - f.For)
	case GoOffline:
		w.goOffline(h, f.For)
	case MoveFolder:
		w.moveFolder(h, f.For)
	default:
		return false
	}
	return true
}

func (w *World) cutShare(h *host, d time.Duration) {
	h.shareCuts++
	w.untilHealed(d, func() { h.shareCuts-- })
}

func (w *World) strikeProcess(f Fault, h *host) {
	switch f.Kind {
	case CrashDaemon:
		w.crashDaemon(h, "killed")
		w.startLater(h, f.For)
	case FreezeHost:
		w.freezeHost(h, f.For)
	case FreezeOne:
		w.freezeDaemon(h, f.For)
	case CrashHost:
		w.crashHost(h)
		w.startLater(h, f.For)
	case CrashGuard:
		w.eachGuard(h, w.crashGuard)
	case BreakPipe:
		w.eachGuard(h, w.guardHearsEOF)
	case CrashRelay:
		w.eachGuard(h, func(g *guard) { w.relayEnds(g, exitedByItself) })
	case HandOff:
		w.askHandoff(h, false)
	case Retire:
		w.askHandoff(h, true)
		w.startLater(h, f.For)
	case Drain:
		w.drain(h, f.For)
	case Rotate:
		if w.opt.Rotation && !w.rotate(h) {
			return
		} else if !w.opt.Rotation {
			h.token = (h.token + 1) % len(w.keys)
		}
		w.crashDaemon(h, "restarts with another token")
		w.startLater(h, w.dice.between(0, f.For/4))
	case RollOver:
		w.rollOver(0)
	case FreezeGuard:
		w.eachGuard(h, func(g *guard) { w.freezeGuard(g, f.For) })
	case Restart:
		for _, x := range w.hosts {
			w.crashDaemon(x, "restarted")
			w.startLater(x, w.dice.between(0, f.For/4))
		}
	}
}
