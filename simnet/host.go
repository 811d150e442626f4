package simnet

import (
	"fmt"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// host is one PC.
type host struct {
	w     *World
	idx   int
	share *share // the folder behind its LEASE_DIR
	name  string // A, B, …: its STATION
	node  string // UUID kept in STATE_DIR
	boot  string
	boots int
	runs  int
	clock clock
	token int      // which of the site's tokens its stk.ini holds
	copy  *share   // answers instead of the server: the Offline Files cache
	sync  []func() // what the cache carries to the server later

	up          bool
	asleepUntil time.Duration // world time; the host is frozen before it
	daemon      *daemon       // nil while none runs
	guards      []*guard      // whose processes live, daemon or not
	parked      []func()      // what frozen processes will do once they wake

	shareCuts  int
	shareStall time.Duration // world time until which its calls on the share hang
	cache      listing
	misses     map[uint64]time.Duration

	floorRev, floorEpoch uint64 // STATE_DIR

	told meddling // what only a script does to it
}

func (w *World) newHost(i int) *host {
	h := &host{w: w, idx: i, name: string(rune('A' + i)), node: w.dice.uuid(), misses: map[uint64]time.Duration{}}
	h.share = w.shares[i%len(w.shares)]
	if 0 < i && i < w.opt.Clones {
		h.node = w.hosts[0].node
	}
	w.bootHost(h)
	return h
}

// bootHost turns a PC on: a new boot id, a clock that starts somewhere else.
func (w *World) bootHost(h *host) {
	h.up = true
	h.boots++
	h.boot = fmt.Sprintf("boot-%s%d", h.name, h.boots)
	if w.opt.Defect == BootsAlike && h.idx < w.opt.Clones {
		h.boot = "boot-of-all-clones"
	}
	h.clock = clock{base: w.now, offset: w.dice.between(time.Second, 1000*time.Hour), ppm: w.opt.PPM[h.idx]}
	h.cache, h.misses = listing{}, map[uint64]time.Duration{}
}

func (h *host) ip() string           { return fmt.Sprintf("192.168.1.%d", 10+h.idx) }
func (h *host) local() time.Duration { return h.clock.local(h.w.now) }
func (h *host) asleep() bool         { return h.w.now < h.asleepUntil }

// remember keeps the newest readable record known on disk. The epoch belongs to
// the rev, so an unreadable head must not raise the rev alone.
func (h *host) remember(rev, epoch uint64) {
	if rev > h.floorRev {
		h.floorRev, h.floorEpoch = rev, max(epoch, h.floorEpoch)
	}
}

// daemon is one run of floatrelay on a host.
type daemon struct {
	host    *host
	id      lease.ID
	name    string // A1, A2, …: host and run
	machine *arbiter.Machine
	keys    *vault
	usesNew bool // of two tokens, it signs with the new one
	prio    int
	fig     Figures // what its stk.ini says

	dead        bool
	left        bool // ended gracefully
	diedAt      time.Duration
	frozenUntil time.Duration
	inbox       []arbiter.Event // arrived while frozen
	packets     int             // of them, datagrams

	lanes     [lanes]arbiter.OpID
	lastOp    arbiter.OpID
	lastGen   uint64
	lastShare string        // chain of its newest create
	tickAt    time.Duration // world time of the pending tick; 0 = none
	ticks     rate
	creates   rate

	peers     []*peer
	meta      arbiter.Member
	watching  lease.ID
	connected bool
	watchSeq  int
}

// awake reports whether the daemon's process runs right now.
func (d *daemon) awake() bool {
	return !d.dead && d.host.up && !d.host.asleep() && d.host.w.now >= d.frozenUntil
}

// startDaemon starts a run on a host that has none, turning the host on first
// if need be.
func (w *World) startDaemon(h *host) {
	if h.daemon != nil {
		return
	}
	if !h.up {
		w.bootHost(h)
	}
	h.runs++
	d := &daemon{
		host: h, id: lease.ID{Node: h.node, Run: w.dice.runID()}, name: fmt.Sprintf("%s%d", h.name, h.runs),
		prio: w.opt.Prio[h.idx], fig: w.opt.Figures, keys: w.keys[h.token],
	}
	if w.opt.Mixed {
		d.fig = drawFigures(w.dice)
	}
	if h.disk().view.Epoch > h.floorEpoch && h.shareCuts == 0 {
		h.remember(h.disk().view.Rev, h.disk().view.Epoch)
	}
	f := d.fig
	m, err := arbiter.New(arbiter.Config{
		Self: d.id, Boot: h.boot, KMSN: kmsn, Station: h.name, IP: h.ip(), Port: 9530, PID: 1000*h.runs + h.idx,
		Priority: d.prio, TTL: f.TTL, Renew: f.Renew, Poll: f.Poll, Fence: f.Fence, Beat: f.Beat, Grace: f.Grace,
		FloorRev: h.floorRev, FloorEpoch: h.floorEpoch, Seed: w.dice.Uint64(), Sealer: sealer{d}, Preempt: w.opt.preempts(h.idx), NewShare: w.shareIDs(),
	})
	if err != nil {
		w.fail("start", "%v", err)
		return
	}
	d.machine = m
	h.daemon, w.names[d.id] = d, d
	w.story("%s starts", d.name)
	w.reachabilityChanged()
	w.deliver(d, arbiter.Tick{})
	w.shareMeta(d)
	w.after(w.dice.between(time.Millisecond, 20*time.Millisecond), func() { w.clearTree(d) })
}

// startLater starts whatever is missing on a host after a while.
func (w *World) startLater(h *host, d time.Duration) {
	w.after(d, func() {
		if !w.healed {
			w.startDaemon(h)
		}
	})
}

// clearTree hands the daemon guard.lock once no tree of an earlier run lives.
func (w *World) clearTree(d *daemon) {
	if d.dead {
		return
	}
	for _, g := range d.host.guards {
		if g.of != d && g.relay != nil {
			w.after(20*time.Millisecond, func() { w.clearTree(d) })
			return
		}
	}
	w.deliver(d, arbiter.TreeClear{})
}

// deliver hands an event to a daemon, now or when it wakes.
func (w *World) deliver(d *daemon, ev arbiter.Event) {
	switch {
	case d.dead:
	case !d.awake() && isPacket(ev) && d.packets >= w.opt.Proc.Buffer:
	case !d.awake():
		d.inbox = append(d.inbox, ev)
		if isPacket(ev) {
			d.packets++
		}
	default:
		w.step(d, ev)
	}
}

// isPacket reports whether an event came in a datagram: a socket's buffer keeps
// the oldest and drops what no longer fits.
func isPacket(ev arbiter.Event) bool {
	switch ev.(type) {
	case arbiter.BeatReceived, arbiter.VouchReceived, arbiter.HeadReceived:
		return true
	}
	return false
}

// step lets the machine decide, and begins what it decided.
func (w *World) step(d *daemon, ev arbiter.Event) {
	w.stats.Events++
	if w.tracing() {
		w.detail("%s < %s", d.name, w.showEvent(ev))
	}
	if lane, op, ok := freesLane(ev); ok && d.lanes[lane] == op {
		d.lanes[lane] = 0
	}
	acts := d.machine.Step(d.host.local(), ev)
	w.perform(d, acts)
	w.scheduleTick(d)
}

// perform begins actions in order. A daemon may freeze between any two of
// them; the rest is then begun when it wakes.
func (w *World) perform(d *daemon, acts []arbiter.Action) {
	for i, a := range acts {
		if d.dead {
			return
		}
		if i > 0 && w.dice.chance(w.opt.Proc.FreezeMid) {
			w.freezeMid(d)
		}
		if !d.awake() {
			rest := append([]arbiter.Action(nil), acts[i:]...)
			d.host.park(func() { w.perform(d, rest) })
			return
		}
		if w.tracing() {
			w.detail("%s > %s", d.name, w.showAction(a))
		}
		w.act(d, a)
	}
}

// scheduleTick arranges the Tick the machine asked for. An earlier pending tick
// is left to find out for itself.
func (w *World) scheduleTick(d *daemon) {
	local := d.host.local()
	wake := min(max(d.machine.Wake(), local), local+time.Hour) // it may want none at all
	at := max(d.host.clock.world(wake), w.now+50*time.Microsecond)
	if d.tickAt != 0 && d.tickAt <= at {
		return
	}
	d.tickAt = at
	w.queue.push(at+w.dice.between(0, w.opt.Proc.TimerMax), func() { w.tick(d, at) })
}

func (w *World) tick(d *daemon, planned time.Duration) {
	if d.dead || d.tickAt != planned {
		return
	}
	d.tickAt = 0
	if d.awake() && d.host.local() < d.machine.Wake() {
		w.scheduleTick(d)
		return
	}
	if d.ticks.over(w.now, time.Second, 3000) {
		w.fail("livelock", "%s asks for more than 3000 ticks per second", d.name)
		return
	}
	w.deliver(d, arbiter.Tick{})
}

// shareIDs returns a source of share ids whose first is drawn now, so that what a
// node founds does not depend on when.
func (w *World) shareIDs() func() string {
	next := w.dice.uuid()
	return func() string {
		id := next
		next = w.dice.uuid()
		return id
	}
}
