package simnet

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// World is one simulated site: hosts, the network between them, the share they
// all mount, and what the checker knows about them. It is single-threaded;
// everything happens inside happenings taken off its queue in order.
type World struct {
	opt   Options
	dice  dice
	now   time.Duration // world time since the start
	queue queue
	trace tracer
	vault *vault   // opens everything: what the checker uses
	keys  []*vault // what daemons have, by token

	signsOld *vault // both tokens, signing with the old one

	hosts  []*host
	net    network
	moved  bool     // some PC's LEASE_DIR is another, empty folder
	shares []*share // one, or two if somebody's LEASE_DIR is wrong
	relays []*relay // alive, in order of their start
	names  map[lease.ID]*daemon

	healed  bool
	undo    []*repair
	checker *checker
	failed  error
	stats   Stats
}

// Stats is what a world reports about itself.
type Stats struct {
	World      time.Duration // simulated time
	Events     int           // events stepped through machines
	Relays     int           // relay trees started
	Takeovers  int           // tenures that started a relay, beyond the first
	Creates    int           // creates begun
	Fallen     int           // epochs that fell, or were used twice, while members could not read each other's records
	Reused     int           // epochs used again in a new chain by members that had forgotten the old one
	Excused    int           // documented exceptions: relays that woke past their deadline
	MaxExcused time.Duration // longest such run beside another relay
	MaxFolders time.Duration // longest that relays of two folders ran at once, where LEASE_DIR differs by mistake
	MaxGap     time.Duration // Failover: from the death of the leader to the next relay
}

// repair undoes a fault, at its time or when the world heals.
type repair struct {
	do   func()
	done bool
}

// New builds the world that the options describe. Nothing has happened in it
// yet.
func New(opt Options) *World {
	w := &World{opt: opt, dice: newDice(opt.Seed, streamWorld), names: map[lease.ID]*daemon{}}
	w.cutKeys()
	w.net = newNetwork(opt.Nodes)
	for range max(opt.Shares, 1) {
		w.shares = append(w.shares, &share{})
	}
	w.checker = newChecker(w)
	for i := range opt.Nodes {
		w.hosts = append(w.hosts, w.newHost(i))
	}
	for _, s := range w.shares {
		w.past(s)
	}
	return w
}

// Trace makes the world write down what happens, to out and into its hash. out
// may be nil.
func (w *World) Trace(level Detail, out io.Writer) { w.trace.level, w.trace.out = level, out }

// Hash identifies the trace written so far.
func (w *World) Hash() uint64 { return w.trace.hash }

// Stats returns what has happened so far.
func (w *World) Stats() Stats {
	w.stats.World = w.now
	return w.stats
}

// after schedules something.
func (w *World) after(d time.Duration, do func()) { w.queue.push(w.now+max(d, 0), do) }

// run lets things happen until the given world time.
func (w *World) run(until time.Duration) {
	for w.failed == nil && w.queue.len() > 0 && w.queue.heap[0].at <= until {
		h := w.queue.pop()
		w.now = h.at
		h.do()
	}
	if w.failed == nil {
		w.now = until
	}
}

// fail stops the world at the first violation.
func (w *World) fail(check, format string, args ...any) {
	if w.failed != nil {
		return
	}
	w.failed = &Violation{Check: check, Text: fmt.Sprintf(format, args...), At: w.now, Options: w.opt, Tail: w.trace.tail()}
	w.story("VIOLATION %s: %s", check, fmt.Sprintf(format, args...))
}

// Violation is a broken promise: which check, when, and in which world.
type Violation struct {
	Check   string
	Text    string
	At      time.Duration
	Options Options
	Tail    string // the last lines of the trace, if one was written
}

// Error names the check and how to see it happen again.
func (v *Violation) Error() string {
	replay := fmt.Sprintf("go test ./simnet -run TestSearch -sim.mode=%s -sim.seed=%d -sim.trace", v.Options.Mode, v.Options.Seed)
	if v.Options.Mode == Scripted {
		replay = "the test that tells this script"
	}
	return fmt.Sprintf("%s at %.6fs: %s\nreplay: %s\n%v%s", v.Check, v.At.Seconds(), v.Text, replay, v.Options, v.Tail)
}

// untilHealed schedules the end of a fault.
func (w *World) untilHealed(d time.Duration, undo func()) {
	r := &repair{do: undo}
	if w.healed {
		d = min(d, 100*time.Millisecond)
	}
	if len(w.undo) > 256 {
		w.undo = slices.DeleteFunc(w.undo, func(r *repair) bool { return r.done })
	}
	w.undo = append(w.undo, r)
	w.after(d, r.end)
}

// soon schedules something that may take its time, but not after the world has
// healed: a call under way returns then.
func (w *World) soon(d time.Duration, do func()) {
	if d < 100*time.Millisecond {
		w.after(d, do)
		return
	}
	w.untilHealed(d, do)
}

func (r *repair) end() {
	if !r.done {
		r.done = true
		r.do()
	}
}

// heal ends every fault: cuts are mended, sleepers wake, what is down starts,
// and from now on the network and the share only show ordinary latencies.
func (w *World) heal() {
	w.story("HEALED")
	w.healed = true
	p := &w.opt
	p.Net.Loss, p.Net.Replay, p.Net.Spike = 0, 0, 0
	s := &p.Share
	s.Spike, s.LostAck, s.Late, s.NoBody, s.TornBody, s.SplitBody, s.FreezeCall = 0, 0, 0, 0, 0, 0, 0
	s.StaleList, s.StaleMiss = 0, 0
	s.Max = min(s.Max, 50*time.Millisecond)
	p.Net.Max = min(p.Net.Max, 20*time.Millisecond)
	p.Proc.Crash, p.Proc.NeverReady, p.Proc.FreezeMid = 0, 0, 0
	open := w.undo
	w.undo = nil
	for _, r := range open {
		r.end()
	}
	for _, s := range w.shares {
		s.stalledUntil = 0
	}
	for _, h := range w.hosts {
		h.shareStall = 0
		w.thaw(h)
		w.giveRightToken(h)
		w.startDaemon(h)
	}
}

// add sums up several worlds.
func (s *Stats) add(o Stats) {
	s.World += o.World
	s.Events += o.Events
	s.Relays += o.Relays
	s.Takeovers += o.Takeovers
	s.Creates += o.Creates
	s.Fallen += o.Fallen
	s.Reused += o.Reused
	s.Excused += o.Excused
	s.MaxExcused = max(s.MaxExcused, o.MaxExcused)
	s.MaxFolders = max(s.MaxFolders, o.MaxFolders)
	s.MaxGap = max(s.MaxGap, o.MaxGap)
}
