// Package demo shows the promise being kept: it builds a site of real daemons
// on this machine, hurts the one that leads, and prints what happened when.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/standin"
)

// Fault is what happens to the leader.
type Fault string

// The faults.
const (
	Crash  Fault = "crash"  // its PC loses power: daemon, guard and relay end at once
	Kill   Fault = "kill"   // its daemon alone is killed; the guard writes the last will
	Freeze Fault = "freeze" // its daemon hangs; the relay must end although nobody acts
	Stop   Fault = "stop"   // it is stopped in an orderly way
)

// Faults are all of them, for messages.
var Faults = []Fault{Crash, Freeze, Stop, Kill}

// Options of a demo.
type Options struct {
	Exe   string // the floatrelay binary
	Nodes int    // 2 to 9
	Fault Fault
	Out   io.Writer
	Extra map[string]string // further keys of every stk.ini
}

// Result is what was measured.
type Result struct {
	Fault     Fault         `json:"fault"`
	LastBeat  time.Duration `json:"last_beat_ns"` // after the fault; negative is before, 0 if not known
	Takeover  time.Duration `json:"takeover_ns"`  // fault to record created
	Ready     time.Duration `json:"ready_ns"`     // fault to the new relay listening
	Reconnect time.Duration `json:"reconnect_ns"` // fault to the client being back
	Overlap   time.Duration `json:"overlap_ns"`   // two relays at once, from the relays themselves
	Stable    bool          `json:"stable"`       // no second change when the victim came back
	Received  [2]int        `json:"messages"`     // before the fault, after it
	Path      string        `json:"path"`         // by which rule the lease was taken
	From, To  string        `json:"-"`            // stations
}

// Err says which part of the promise was broken, if any.
func (r Result) Err() error {
	switch {
	case r.Overlap > 0:
		return fmt.Errorf("two relays ran at once for %v", r.Overlap)
	case r.Ready <= 0:
		return errors.New("no new relay came")
	case !r.Stable:
		return errors.New("the leader or its relay changed a second time when the victim came back")
	case r.Received[1] == 0:
		return errors.New("the client did not get through to the new relay")
	}
	return nil
}

// settle is how long the site is watched after the victim came back.
const settle = 3 * time.Second

// stall is for how long a busy PC may keep the daemons from answering.
const stall = 2 * time.Second

// Run runs one demo; ctx bounds it. The result is valid with a nil error; the
// promise is judged by Result.Err.
func Run(ctx context.Context, opt Options) (_ Result, err error) {
	if opt.Nodes < 2 || opt.Nodes > 9 {
		return Result{}, fmt.Errorf("a demo needs 2 to 9 nodes, not %d", opt.Nodes)
	}
	s, err := localsite.New(localsite.Options{Exe: opt.Exe, Nodes: opt.Nodes, Extra: opt.Extra})
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	d := &show{opt: opt, s: s, fault: time.Time{}}
	return d.run(ctx)
}

// show is one demo under way.
type show struct {
	opt   Options
	s     *localsite.Site
	fault time.Time
}

func (d *show) say(format string, args ...any) {
	fmt.Fprintf(d.opt.Out, format+"\n", args...)
}

func (d *show) run(ctx context.Context) (Result, error) {
	d.say("floatrelay demo: %d stations on this PC, one share, the built-in stand-in relay", d.opt.Nodes)
	if err := d.s.StartAll(); err != nil {
		return Result{}, err
	}
	leader, st, err := d.s.AwaitLeader(ctx, 0)
	if err != nil {
		return Result{}, d.explain(err)
	}
	d.awaitRoster(ctx)
	d.members(ctx, leader, "the site:")

	talk := newTalk(d.s)
	defer talk.close()
	if err := talk.exchange(ctx, 20); err != nil {
		return Result{}, err
	}
	res := Result{Fault: d.opt.Fault, From: leader.Station}
	res.Received[0] = talk.received()
	d.say("")
	d.say("two clients talk through the relay on %s: %d messages so far", leader.Station, res.Received[0])
	feeds := d.feeds(ctx, leader)
	if err := d.hurt(ctx, leader); err != nil {
		return res, err
	}
	next, after, err := d.s.AwaitLeader(ctx, st.Epoch)
	if err != nil {
		return res, d.explain(err)
	}
	res.To = next.Station
	if err := talk.exchange(ctx, 20); err != nil {
		return res, d.explain(err)
	}
	res.Received[1] = talk.received() - res.Received[0]
	if res.Reconnect, err = d.since(talk.reconnected(after.Epoch)); err != nil {
		return res, err
	}
	feeds.read(next, &res, d.fault)
	d.members(ctx, next, "the site without "+leader.Station+":")
	res.Stable = d.comeBack(ctx, leader, after.Epoch)
	d.members(ctx, next, leader.Station+" is back, as a client:")
	return res, d.measure(&res, after.Epoch)
}

// rosterPatience bounds the wait for the others to be named in the leader's
// records: 2·FENCE of unbroken vouching and a renewal, and slow machines.
const rosterPatience = 20 * time.Second

// awaitRoster waits until every other member may take over fast. A demo goes
// on without: it then shows the slower way.
func (d *show) awaitRoster(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, rosterPatience)
	defer cancel()
	if _, err := d.s.AwaitRoster(ctx, d.opt.Nodes-1); err != nil {
		d.say("%v", err)
	}
}

// hurt does to the leader what was asked for.
func (d *show) hurt(ctx context.Context, n *localsite.Node) error {
	words := map[Fault]string{
		Crash: "loses power", Kill: "has its daemon killed", Freeze: "hangs: its daemon is frozen, the relay is not", Stop: "is stopped in an orderly way",
	}[d.opt.Fault]
	d.say("")
	d.say("  0.000 s  %s %s", n.Station, words)
	d.fault = time.Now()
	switch d.opt.Fault {
	case Crash:
		n.PowerCut()
	case Kill:
		n.KillDaemon()
	case Freeze:
		return n.Freeze()
	case Stop:
		return n.Stop(ctx)
	default:
		return fmt.Errorf("no fault is called %q", d.opt.Fault)
	}
	return nil
}

// comeBack lets the victim return and reports whether the site stayed as it
// was: the same leader with the same relay process, and no time without one.
func (d *show) comeBack(ctx context.Context, n *localsite.Node, epoch uint64) bool {
	if d.opt.Fault == Freeze {
		_ = n.Resume()
	} else if err := n.Start(); err != nil {
		d.say("%v", err)
		return false
	}
	pid, seen := 0, time.Now()
	for until := seen.Add(settle); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		_, st, err := d.s.Leader(ctx)
		switch {
		case err != nil && time.Since(seen) > stall:
			return false // nobody leads
		case err != nil:
			continue
		case st.Epoch != epoch, pid != 0 && st.Relay.PID != pid:
			return false
		}
		pid, seen = st.Relay.PID, time.Now()
	}
	st, err := n.Status(ctx)
	return err == nil && st.Role != "leader" && pid != 0
}

func (d *show) since(t time.Time) (time.Duration, error) {
	if t.IsZero() {
		return 0, errors.New("the client never reconnected")
	}
	return t.Sub(d.fault), nil
}

// measure reads the relays' own logs and prints the timeline.
func (d *show) measure(res *Result, epoch uint64) error {
	spans, err := d.s.Lives()
	if err != nil {
		return err
	}
	res.Overlap = standin.Overlap(spans)
	for _, sp := range spans {
		if sp.Epoch == epoch && sp.Listening > 0 && res.Ready == 0 {
			res.Ready = wallOf(sp.Listening).Sub(d.fault)
		}
	}
	d.timeline(*res)
	return nil
}

// explain adds the last words of every daemon to an error, since its folder is
// about to be removed.
func (d *show) explain(err error) error {
	var b strings.Builder
	for _, n := range d.s.Nodes {
		lines := strings.Split(strings.TrimSpace(n.Log()), "\n")
		fmt.Fprintf(&b, "\n%s:\n  %s", n.Station, strings.Join(lines[max(0, len(lines)-8):], "\n  "))
	}
	return fmt.Errorf("%w%s", err, b.String())
}

// Self returns the path of this binary, which is also the stand-in relay.
func Self() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's own path: %w", err)
	}
	return exe, nil
}
