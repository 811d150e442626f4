package sitetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/lease"
)

// Figures of the sites below. quick saves time where the way by TTL' is waited
// for; its FENCE is still long enough for a machine with two busy cores.
const (
	ttl, fence           = 10 * time.Second, 1500 * time.Millisecond // the defaults
	quickTTL, quickFence = 4 * time.Second, 1300 * time.Millisecond
	// steady is for sites that must not change: a test machine may stand
	// still for longer than quickFence.
	steadyTTL, steadyFence = 9 * time.Second, 3 * time.Second
	// slack is what a busy test machine may add to anything.
	slack = 20 * time.Second
	// exact is how exactly the end of a process is known from its life log.
	exact = 50 * time.Millisecond
)

func quick() map[string]string {
	return map[string]string{
		"LEASE_TTL": quickTTL.String(), "LEASE_FENCE": quickFence.String(),
		"LEASE_RENEW": "1s", "LEASE_BEAT": "200ms", "LEASE_POLL": "700ms",
	}
}

func steady() map[string]string {
	return map[string]string{
		"LEASE_TTL": steadyTTL.String(), "LEASE_FENCE": steadyFence.String(),
		"LEASE_RENEW": "2s", "LEASE_BEAT": "300ms", "LEASE_POLL": "700ms",
	}
}

// repeats is how often a failover is tried, unless the variable called env says
// otherwise n times.
func repeats(t *testing.T, env string, n int) int {
	text := os.Getenv(env)
	if text == "" {
		return n
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, env)
	return n
}

// site is a station under test.
type site struct {
	*localsite.Site
	t *testing.T
	// mayOverlap is how long two relays may live at once; zero but for PCs that
	// use two folders, which have no lease in common until gossip has met.
	mayOverlap time.Duration
}

// build makes a site; nothing runs yet. When the test ends, two relays must
// never have lived at once.
func build(t *testing.T, opt localsite.Options) *site {
	t.Helper()
	opt.Exe = exe
	if opt.Nodes == 0 {
		opt.Nodes = 3
	}
	s, err := localsite.New(opt)
	require.NoError(t, err)
	site := &site{Site: s, t: t}
	t.Cleanup(func() {
		overlap, err := s.Overlap()
		if err != nil {
			t.Errorf("read the relays' lives: %v", err)
		}
		if overlap > site.mayOverlap {
			t.Errorf("two relays lived at once for %v", overlap)
		}
		if t.Failed() {
			for _, n := range s.Nodes {
				t.Logf("%s:\n%s", n.Station, n.Log())
			}
			lives, _ := s.Lives()
			t.Logf("lives: %+v", lives)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close the site: %v", err)
		}
	})
	return site
}

// start builds a site, starts all of it and waits for its leader.
func start(t *testing.T, opt localsite.Options) (*site, *localsite.Node, localapi.Status) {
	t.Helper()
	s := build(t, opt)
	require.NoError(t, s.StartAll())
	n, st := s.leader(0, 2*slack)
	return s, n, st
}

func (s *site) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), d)
	s.t.Cleanup(cancel)
	return ctx
}

// leader waits for a leader with a newer epoch than after.
func (s *site) leader(after uint64, patience time.Duration) (*localsite.Node, localapi.Status) {
	s.t.Helper()
	n, st, err := s.AwaitLeader(s.within(patience), after)
	require.NoError(s.t, err)
	return n, st
}

// roster waits until the leader's records name n members and returns the record
// that did. The next may name fewer: a busy machine is silent for a moment.
func (s *site) roster(n int) lease.Record {
	s.t.Helper()
	r, err := s.AwaitRoster(s.within(2*slack), n)
	require.NoError(s.t, err)
	return r
}

// took is how a node won the lease of an epoch, as it remembers it: "released",
// "fence", "ttl" and so on. How long it took on a busy machine tells little.
func (s *site) took(n *localsite.Node, epoch uint64) (reason string) {
	s.t.Helper()
	s.until(slack, n.Station+" remembers how it took the lease", func() error {
		past, err := n.Client().History(s.t.Context())
		if err != nil {
			return err
		}
		for _, p := range past {
			if p.Epoch == epoch && p.Reason != "" {
				reason = p.Reason
				return nil
			}
		}
		return errNotYet
	})
	return reason
}

// logs waits until a node's log holds text: its lines are written a moment
// after what they tell of.
func (s *site) logs(n *localsite.Node, text string) {
	s.t.Helper()
	s.until(slack, fmt.Sprintf("%s logs %q", n.Station, text), func() error {
		if !strings.Contains(n.Log(), text) {
			return errNotYet
		}
		return nil
	})
}

// mayLead waits until one node sees that another could take over at once.
func (s *site) mayLead(asked, about *localsite.Node) {
	s.t.Helper()
	s.member(asked, about, "may lead", func(m localapi.Member) bool {
		return m.State == localapi.StateAlive && m.Eligible && m.Share != ""
	})
}

// stall is for how long a busy machine may keep the daemons from answering.
const stall = 3 * time.Second

// stays demands that node n leads with this epoch for all of d, with the same relay
// process, and that nobody says for longer than a stall that nobody leads.
func (s *site) stays(n *localsite.Node, epoch uint64, d time.Duration) {
	s.t.Helper()
	leads := func(st localapi.Status) bool {
		return st.Role == "leader" && st.Relay.State == "running" && st.Epoch == epoch
	}
	pid := s.status(n, "leads", leads).Relay.PID
	seen := time.Now()
	for end := seen.Add(d); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		l, st, err := s.Leader(s.t.Context())
		if err != nil {
			require.Less(s.t, time.Since(seen), stall, "nobody leads")
			continue
		}
		require.Equal(s.t, n.Station, l.Station)
		require.Equal(s.t, epoch, st.Epoch)
		require.Equal(s.t, pid, st.Relay.PID, "the relay was started again")
		seen = time.Now()
	}
	require.Equal(s.t, pid, s.status(n, "still leads", leads).Relay.PID, "the relay was started again")
}

// status waits until what a node says of itself fits.
func (s *site) status(n *localsite.Node, what string, fits func(localapi.Status) bool) localapi.Status {
	s.t.Helper()
	return s.statusWithin(n, what, 2*slack, fits)
}

func (s *site) statusWithin(n *localsite.Node, what string, d time.Duration, fits func(localapi.Status) bool) localapi.Status {
	s.t.Helper()
	var last localapi.Status
	s.until(d, fmt.Sprintf("%s %s", n.Station, what), func() error {
		ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
		defer cancel()
		var err error
		if last, err = n.Status(ctx); err != nil {
			return err
		}
		if !fits(last) {
			return fmt.Errorf("status is %+v", last)
		}
		return nil
	})
	return last
}

// until waits until try succeeds.
func (s *site) until(d time.Duration, what string, try func() error) {
	s.t.Helper()
	var err error
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	require.NoError(s.t, err, "after %v still not so: %s", d, what)
}

// handOver has the leader n, of this epoch, give the lease to another by name, and
// returns who gave it in the end and both epochs. Whoever is next in line waits
// for the named one, but on a busy machine too short: then it is to give it on.
func (s *site) handOver(n, to *localsite.Node, epoch uint64, give func(from *localsite.Node)) (from *localsite.Node, before, after uint64) {
	s.t.Helper()
	for range 8 {
		s.mayLead(n, to)
		give(n)
		l, st := s.leader(epoch, slack)
		if l == to {
			return n, epoch, st.Epoch
		}
		n, epoch = l, st.Epoch
	}
	require.Fail(s.t, "whoever is named never gets the lease", to.Station)
	return nil, 0, 0
}

// others are all nodes but n.
func (s *site) others(n *localsite.Node) []*localsite.Node {
	var out []*localsite.Node
	for _, x := range s.Nodes {
		if x != n {
			out = append(out, x)
		}
	}
	return out
}

// life returns the span of the first relay of an epoch.
func (s *site) life(epoch uint64) standin.Span {
	s.t.Helper()
	return s.relaysOf(epoch)[0]
}

// relaysOf returns the spans of all relays of an epoch, one at least: a relay
// that crashed is followed by another of the same epoch.
func (s *site) relaysOf(epoch uint64) (all []standin.Span) {
	s.t.Helper()
	lives, err := s.Lives()
	require.NoError(s.t, err)
	for _, l := range lives {
		if l.Epoch == epoch {
			all = append(all, l)
		}
	}
	require.NotEmpty(s.t, all, "no relay of epoch %d ever lived: %+v", epoch, lives)
	return all
}

// relayPIDs returns the pids of all relays of an epoch.
func (s *site) relayPIDs(epoch uint64) (pids []int) {
	s.t.Helper()
	for _, l := range s.relaysOf(epoch) {
		pids = append(pids, l.PIDs...)
	}
	return pids
}

// dies waits until the relay of an epoch has ended and returns when that was,
// in boot time.
func (s *site) dies(epoch uint64, patience time.Duration) time.Duration {
	s.t.Helper()
	var last time.Duration
	s.until(patience, fmt.Sprintf("the relay of epoch %d is gone", epoch), func() error {
		for _, pid := range s.relayPIDs(epoch) { // one that gets no time to run writes nothing either
			if err := notRelay(pid); err != nil {
				return err
			}
		}
		for _, l := range s.relaysOf(epoch) {
			last = max(last, l.Last)
		}
		if age := clock.Boot() - last; age < 500*time.Millisecond {
			return fmt.Errorf("it wrote its life log %v ago", age)
		}
		return nil
	})
	return last
}

// gone demands that nothing of a node's relay is left: no listener on either
// port, no process of the pids its relay wrote into its life log.
func (s *site) gone(n *localsite.Node, epoch uint64) {
	s.t.Helper()
	for _, port := range []int{n.RelayPort, n.RelayPort + 1} {
		addr := net.JoinHostPort(n.Addr, strconv.Itoa(port))
		l, err := net.Listen("tcp", addr)
		require.NoError(s.t, err, "a port of the relay is still held")
		require.NoError(s.t, l.Close())
	}
	for _, pid := range s.relayPIDs(epoch) {
		require.NoError(s.t, notRelay(pid), "a process of the relay still lives")
	}
}

// notRelay returns an error if pid is a process of the program under test.
func notRelay(pid int) error {
	cmd, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(cmd), "standin") {
		return nil //nolint:nilerr // gone is what is wanted
	}
	return fmt.Errorf("process %d: %s", pid, strings.ReplaceAll(string(cmd), "\x00", " "))
}

// alone demands that a frozen daemon has no process below it any more.
func (s *site) alone(n *localsite.Node) {
	s.t.Helper()
	s.until(slack, n.Station+" has no guard and no relay any more", func() error {
		if tree := procs.Tree(n.PID()); len(tree) > 1 {
			return fmt.Errorf("processes %v", tree)
		}
		return nil
	})
}

var errNotYet = errors.New("not yet")

// member waits until what one node says of another fits.
func (s *site) member(asked, about *localsite.Node, what string, fits func(localapi.Member) bool) localapi.Member {
	s.t.Helper()
	var last localapi.Member
	s.until(2*slack, fmt.Sprintf("%s of %s", what, about.Station), func() error {
		ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
		defer cancel()
		all, err := asked.Members(ctx)
		if err != nil {
			return err
		}
		for _, m := range all.Members {
			if m.Station == about.Station {
				last = m
				if fits(m) {
					return nil
				}
			}
		}
		return fmt.Errorf("%w: %+v", errNotYet, all.Members)
	})
	return last
}
