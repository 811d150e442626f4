package demo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/reason"
)

// wallOf converts boot time of this host to wall time.
func wallOf(boot time.Duration) time.Time { return time.Now().Add(boot - clock.Boot()) }

// members prints the member table as one member sees it.
func (d *show) members(ctx context.Context, n *localsite.Node, title string) {
	m, err := n.Members(ctx)
	if err != nil {
		d.say("%s: %v", n.Station, err)
		return
	}
	d.say("")
	d.say("%s", title)
	for _, x := range m.Members {
		d.say("  %-8s %-21s %-8s %-10s %s", x.Station, x.Addr, x.State, x.Role, x.Note)
	}
}

// moment is a line of the timeline.
type moment struct {
	at   time.Duration // after the fault
	text string
}

// timeline prints what happened when.
func (d *show) timeline(r Result) {
	d.say("")
	d.say("timeline (%s of %s):", r.Fault, r.From)
	var lines []moment
	line := func(at time.Duration, format string, args ...any) {
		lines = append(lines, moment{at, fmt.Sprintf(format, args...)})
	}
	line(0, "fault")
	if r.LastBeat != 0 {
		line(r.LastBeat, "last beat heard by %s", r.To)
	}
	if r.Takeover != 0 {
		line(r.Takeover, "%s creates the next record (%s)", r.To, r.Path)
	}
	line(r.Ready, "the new relay listens")
	line(r.Reconnect, "the client is back; %d messages since", r.Received[1])
	slices.SortStableFunc(lines, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	for _, m := range lines {
		d.say("  %6.3f s  %s", m.at.Seconds(), m.text)
	}
	d.say("")
	d.say("two relays at once: %d ms (from the relay processes themselves)", r.Overlap.Milliseconds())
	if r.Stable {
		d.say("%s came back: nothing changed", r.From)
	}
}

// feed collects what a member says it does.
type feed struct {
	mu     sync.Mutex
	events map[*localsite.Node][]localapi.Event
}

// feeds watches every member but the leader.
func (d *show) feeds(ctx context.Context, leader *localsite.Node) *feed {
	f := &feed{events: map[*localsite.Node][]localapi.Event{}}
	for _, n := range d.s.Nodes {
		if n == leader {
			continue
		}
		go func() {
			_ = n.Client().Watch(ctx, func(ev localapi.Event) error { // ends with the demo
				f.mu.Lock()
				defer f.mu.Unlock()
				f.events[n] = append(f.events[n], ev)
				return nil
			})
		}()
	}
	time.Sleep(100 * time.Millisecond)
	return f
}

// read finds the takeover in what the new leader said.
func (f *feed) read(n *localsite.Node, res *Result, fault time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ev := range f.events[n] {
		if ev.Fact.Code != reason.TookLease || ev.Time.Before(fault) {
			continue
		}
		res.Takeover, res.Path = ev.Time.Sub(fault), ev.Fact.How
		if ago := time.Duration(ev.Fact.ForMS) * time.Millisecond; ago > 0 {
			res.LastBeat = res.Takeover - ago
		}
		return
	}
}
