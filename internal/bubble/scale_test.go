package bubble

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	scale = flag.String("bubble.scale", "", "sizes of stations to measure, such as 2,10,200")
	table = flag.String("bubble.table", "", "file in which the table between its two marks is replaced")
)

// load is what one member of a kind costs per second.
type load struct {
	traffic
	calls float64 // of the share
}

// figures are what a station of n members costs and how fast it is.
type figures struct {
	n             int
	first         time.Duration // all switched on at once until the relay is ready
	joined        time.Duration // and until everybody knows everybody
	leader        load
	roster        load    // of one member of the leader's roster
	rest          load    // of one member that is neither
	share         float64 // calls of the share per second, all members together
	crash, killed []time.Duration
	known         []time.Duration // host gone until every member knows
	storm         float64         // calls of the share in the busiest second of a failover
}

// measure switches a station on and lets its leader fail.
func measure(t *testing.T, n, rounds int) figures {
	s := build(t, n, true)
	defer s.close()
	f := figures{n: n}
	began := time.Now()
	f.first = s.within(30*time.Second, "a relay", func() bool { return s.leader() != nil })
	s.within(2*time.Minute, "everybody knows everybody", s.joined)
	f.joined = time.Since(began)
	s.settle(time.Minute)
	time.Sleep(time.Minute)
	s.idle(&f, time.Minute)
	for range rounds {
		s.hostGone(&f)
		s.daemonKilled(&f)
	}
	return f
}

// idle measures what a station costs while nothing happens.
func (s *site) idle(f *figures, d time.Duration) {
	l := s.leader()
	count := s.watch.count()
	before, called := s.traffics(), s.calls()
	time.Sleep(d)
	after, now := s.traffics(), s.calls()
	require.Equal(s.t, count, s.watch.count(), "nothing happens")
	roster := l.status().Roster
	for i, n := range s.all() {
		per := 1 / d.Seconds()
		calls := float64(now[i] - called[i])
		f.share += calls * per
		used, to := after[i].plus(before[i].times(-1)), &f.leader
		if slices.Contains(roster, n.id) {
			to, per = &f.roster, per/float64(len(roster))
		} else if n != l {
			to, per = &f.rest, per/float64(s.size-1-len(roster))
		}
		to.traffic = to.plus(used.times(per))
		to.calls += calls * per
	}
}

func (s *site) traffics() (out []traffic) {
	for _, h := range s.hosts {
		out = append(out, h.meter.read())
	}
	return out
}

// calls are the calls of the share so far, by host.
func (s *site) calls() (out []int) {
	for _, h := range s.hosts {
		out = append(out, h.share.Calls())
	}
	return out
}

func sum(ns []int) (n int) {
	for _, x := range ns {
		n += x
	}
	return n
}

// hostGone takes the leader's host away, measures, and brings it back.
func (s *site) hostGone(f *figures) {
	l := s.settle(2 * time.Minute)
	time.Sleep(between(0, renew))
	at := s.unplug(l)
	busiest := s.busiest(15 * time.Second)
	f.crash = append(f.crash, s.replaced(at, failover))
	s.within(time.Minute, "everybody knows", s.joined)
	known := at
	for _, n := range s.live() {
		if t := *n.counted.Load(); t.After(known) {
			known = t
		}
	}
	f.known = append(f.known, known.Sub(at))
	f.storm = max(f.storm, busiest())
	s.steady(10 * time.Second)
	s.plug(l.host)
}

// daemonKilled kills the leader's daemon, measures, and starts it again.
func (s *site) daemonKilled(f *figures) {
	l := s.settle(2 * time.Minute)
	time.Sleep(between(0, renew))
	f.killed = append(f.killed, s.replaced(s.kill(l), failover))
	s.steady(10 * time.Second)
	s.plug(l.host)
}

// busiest counts calls of the share by the second, for d, in the background;
// the result waits for the end of it.
func (s *site) busiest(d time.Duration) func() float64 {
	most := make(chan int, 1)
	go func() {
		top, last := 0, sum(s.calls())
		for range int(d / time.Second) {
			time.Sleep(time.Second)
			now := sum(s.calls())
			top, last = max(top, now-last), now
		}
		most <- top
	}()
	return func() float64 { return float64(<-most) }
}

func middle(ds []time.Duration) time.Duration {
	ds = slices.Clone(ds)
	slices.Sort(ds)
	return ds[len(ds)/2]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

const tableHead = `| members | first relay | all joined | host gone: new relay | host gone: all know | daemon killed: new relay | leader: packets/s, kB/s + streams | roster member | any other | share calls/s: leader | roster | other | station | busiest second |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
`

func (f figures) row() string {
	return fmt.Sprintf("| %d | %s | %s | %s (%s) | %s (%s) | %s (%s) | %v | %v | %v | %.2f | %.2f | %.2f | %.1f | %.0f |\n",
		f.n, seconds(f.first), seconds(f.joined),
		seconds(middle(f.crash)), seconds(slices.Max(f.crash)), seconds(middle(f.known)), seconds(slices.Max(f.known)),
		seconds(middle(f.killed)), seconds(slices.Max(f.killed)),
		f.leader, f.roster, f.rest, f.leader.calls, f.roster.calls, f.rest.calls, f.share, f.storm)
}

func (l load) String() string {
	if l.Packets == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f, %.1f + %.1f", l.Packets, l.Bytes/1000, l.Stream/1000)
}

// TestScale_Table measures stations of several sizes.
func TestScale_Table(t *testing.T) {
	want := *scale
	if want == "" {
		want = "2,10,24"
		if testing.Short() { // the race detector makes a large one slow
			want = "2,10"
		}
	}
	rows := tableHead
	var all []figures
	for _, size := range strings.Split(want, ",") {
		n, err := strconv.Atoi(size)
		require.NoError(t, err)
		rounds := 1
		if *scale != "" {
			rounds = max(3, 11-n/20)
		}
		t.Run(size, func(t *testing.T) {
			real := stopwatch()
			synctest.Test(t, func(t *testing.T) {
				f := measure(t, n, rounds)
				rows, all = rows+f.row(), append(all, f)
				t.Log("\n" + tableHead + f.row())
			})
			t.Logf("took %v", real())
		})
	}
	requireFlat(t, all)
	if *table != "" && !t.Failed() {
		require.NoError(t, replaceTable(*table, rows))
	}
}

// requireFlat: from ten members on, when the roster is full, neither the leader
// nor anybody else may have more to do because the station is larger.
func requireFlat(t *testing.T, all []figures) {
	t.Helper()
	var base *figures
	for i, f := range all {
		if f.n < 10 {
			continue
		}
		if base == nil {
			base = &all[i]
		}
		const slack = 1.2
		for what, v := range map[string][2]float64{
			"packets of the leader":     {f.leader.Packets, base.leader.Packets},
			"bytes of the leader":       {f.leader.Bytes, base.leader.Bytes},
			"packets of a member":       {f.rest.Packets, base.rest.Packets},
			"bytes of a member":         {f.rest.Bytes, base.rest.Bytes},
			"share calls of the leader": {f.leader.calls, base.leader.calls},
			"share calls of a member":   {f.rest.calls, base.rest.calls},
		} {
			require.LessOrEqual(t, v[0], v[1]*slack, "%s: %d members against %d", what, f.n, base.n)
		}
	}
}

// stopwatch measures real time; it must be made outside a bubble.
func stopwatch() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin).Round(time.Millisecond) }
}

// The marks between which the table stands in its document.
const markBegin, markEnd = "<!-- table -->\n", "<!-- end of table -->"

func replaceTable(file, rows string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("replace the table: %w", err)
	}
	before, rest, ok := strings.Cut(string(b), markBegin)
	_, after, ok2 := strings.Cut(rest, markEnd)
	if !ok || !ok2 {
		return fmt.Errorf("replace the table: %s has no marks around one", file)
	}
	return os.WriteFile(file, []byte(before+markBegin+rows+markEnd+after), 0o644)
}
