package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/relayproc"
)

// settle is how long a new site is left alone before it counts as idle.
const settle = 10 * time.Second

// idle prints what the daemons of a site cost in which nothing happens.
func idle(ctx context.Context, opt options, out io.Writer) error {
	s, err := localsite.New(localsite.Options{Exe: opt.exe, Nodes: opt.nodes, Switched: true})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if err := s.StartAll(); err != nil {
		return err
	}
	up, cancel := context.WithTimeout(ctx, oneRun)
	defer cancel()
	leader, st, err := s.AwaitLeader(up, 0)
	if err != nil {
		return err
	}
	if _, err := s.AwaitRoster(up, opt.nodes-1); err != nil {
		return err
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	before, guard, began := sampleAll(s), sampleGuard(leader.PID()), time.Now()
	if err := pause(ctx, opt.idle); err != nil {
		return err
	}
	after, guardAfter, took := sampleAll(s), sampleGuard(leader.PID()), time.Since(began).Seconds()
	n, now, err := s.Leader(ctx)
	if err != nil {
		return fmt.Errorf("watch an idle site: %w", err)
	}
	if n != leader || now.Epoch != st.Epoch {
		return fmt.Errorf("watch an idle site: the leader changed meanwhile from %s to %s", leader.Station, n.Station)
	}
	t := table{
		head: []string{"process", "CPU (% of a core)", "RSS (MB)", "packets/s out", "packets/s in", "kB/s out", "kB/s in"},
		note: "Packets and bytes are gossip's, payload only: an IPv4 datagram adds 28 bytes.",
	}
	for i, n := range s.Nodes {
		role := "member"
		if n == leader {
			role = "leader"
		}
		t.rows = append(t.rows, append([]string{role}, after[i].since(before[i], took)...))
	}
	t.rows = append(t.rows, append([]string{"the leader's guard"}, guardAfter.since(guard, took)...))
	return t.print(out, fmt.Sprintf("An idle daemon, %d stations, default settings, over %.0f s", opt.nodes, took))
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// sample is what a daemon has used so far.
type sample struct {
	cpu time.Duration
	rss int64 // bytes, now
	net localsite.Traffic
}

func sampleAll(s *localsite.Site) []sample {
	var out []sample
	for i, n := range s.Nodes {
		out = append(out, sample{cpu: cpuOf(n.PID()), rss: rssOf(n.PID()), net: s.Switch.Traffic(i)})
	}
	return out
}

func (a sample) since(b sample, took float64) []string {
	per := func(now, then int64) float64 { return float64(now-then) / took }
	return []string{
		fmt.Sprintf("%.2f", 100*(a.cpu-b.cpu).Seconds()/took),
		fmt.Sprintf("%.1f", float64(a.rss)/1e6),
		fmt.Sprintf("%.1f", per(a.net.Sent, b.net.Sent)),
		fmt.Sprintf("%.1f", per(a.net.Received, b.net.Received)),
		fmt.Sprintf("%.2f", per(a.net.SentBytes, b.net.SentBytes)/1000),
		fmt.Sprintf("%.2f", per(a.net.ReceivedBytes, b.net.ReceivedBytes)/1000),
	}
}

// cpuOf is what all threads of a process have used so far, those included that
// are gone, to the nanosecond. /proc/<pid>/stat counts ticks of 10 ms, of which
// an idle daemon uses a few in a minute.
func cpuOf(pid int) time.Duration {
	const schedClock = 2 // CPUCLOCK_SCHED of clock_getres(2), of a whole process
	var ts unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|schedClock), &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// guardOf is the guard below a daemon and its helper, without the relay.
func guardOf(daemon int) (pids []int) {
	for _, pid := range procs.Tree(daemon) {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		args := strings.Split(string(cmdline), "\x00")
		if len(args) > 1 && (args[1] == relayproc.GuardArg || args[1] == relayproc.InitArg) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func sampleGuard(daemon int) (s sample) {
	for _, pid := range guardOf(daemon) {
		s.cpu += cpuOf(pid)
		s.rss += rssOf(pid)
	}
	return s
}

// rssOf is the resident memory of a process in bytes.
func rssOf(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
