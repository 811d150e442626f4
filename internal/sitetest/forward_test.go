package sitetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/freeport"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
)

// forwardCost is what a program that only knows FORWARD_PORT may be silent longer
// than the site is without a relay: two clients reconnect, a message comes every
// 20 ms.
const forwardCost = 100 * time.Millisecond

// forwarding gives each PC a FORWARD_PORT.
func forwarding(t *testing.T, opt localsite.Options) localsite.Options {
	t.Helper()
	ports, err := freeport.Pairs(max(opt.Nodes, 3))
	require.NoError(t, err)
	also := opt.Adjust
	opt.Adjust = func(i int, keys map[string]string) {
		keys["FORWARD_PORT"] = strconv.Itoa(ports[i])
		if also != nil {
			also(i, keys)
		}
	}
	return opt
}

// forwardAddr is all that a program of a PC knows.
func (s *site) forwardAddr(n *localsite.Node) string {
	s.t.Helper()
	st := s.status(n, "forwards", func(st localapi.Status) bool { return st.Forward != nil && st.Forward.Problem == "" })
	return fmt.Sprintf("127.0.0.1:%d", st.Forward.Port)
}

// ownGap is the longest time without a relay since the relay of an epoch, as the
// relays' processes wrote it.
func (s *site) ownGap(since uint64) (gap time.Duration) {
	s.t.Helper()
	lives, err := s.Lives()
	require.NoError(s.t, err)
	slices.SortFunc(lives, func(a, b standin.Span) int { return int(a.First - b.First) })
	for i, l := range lives {
		if i > 0 && l.Epoch > since && l.Listening > 0 {
			gap = max(gap, l.Listening-lives[i-1].Last)
		}
	}
	return gap
}

// leaderBut waits for a leader that is not n, which gives the lease away if need
// be.
func (s *site) leaderBut(n *localsite.Node) (*localsite.Node, localapi.Status) {
	s.t.Helper()
	s.until(2*slack, "another than "+n.Station+" leads", func() error {
		l, _, err := s.Leader(s.t.Context())
		if err != nil || l != n {
			return err
		}
		_ = n.Client().Handoff(s.t.Context(), "")
		time.Sleep(300 * time.Millisecond)
		return errNotYet
	})
	return s.leader(0, slack)
}

// A program that knows only 127.0.0.1:FORWARD_PORT sees nothing but reconnects,
// whatever happens to the relay, and is hardly longer without it than the site is.
// How long is demanded where nothing else runs (PROVE_EXACT=1).
func TestForward_AProgramSeesOnlyReconnects(t *testing.T) {
	s, _, _ := start(t, forwarding(t, localsite.Options{Nodes: 4}))
	s.roster(3)
	home := s.Nodes[0] // the program's PC
	talk := opsTalkingThrough(s, s.forwardAddr(home))
	talk.flows(20)
	faults := []struct {
		what string
		do   func(leader *localsite.Node)
	}{
		{"crash", func(n *localsite.Node) {
			n.PowerCut()
			s.othersLead(n)
			require.NoError(t, n.Start())
		}},
		{"freeze", func(n *localsite.Node) {
			require.NoError(t, n.Freeze())
			s.othersLead(n)
			require.NoError(t, n.Resume())
		}},
		{"handoff", func(n *localsite.Node) { require.NoError(t, n.Client().Handoff(t.Context(), "")) }},
		{"rolling restart of the others", func(*localsite.Node) {
			for _, n := range s.others(home) {
				opsRestart(s, n)
			}
		}},
		{"token change on the others", func(*localsite.Node) {
			for _, n := range s.others(home) {
				require.NoError(t, n.Set(map[string]string{"RELAY_TOKEN": opsToken, "RELAY_TOKEN_OLD": localsite.Token}))
				opsRestart(s, n)
			}
		}},
	}
	for _, f := range faults {
		n, st := s.leaderBut(home)
		s.roster(3)
		talk.flows(20)
		from := time.Now()
		f.do(n)
		s.leader(st.Epoch, 2*slack)
		talk.flows(20)
		own, silence := s.ownGap(st.Epoch), talk.longest(from)
		t.Logf("%s: the site was without a relay for %v, the program for %v", f.what, own.Round(time.Millisecond), silence.Round(time.Millisecond))
		if os.Getenv("PROVE_EXACT") != "" {
			require.LessOrEqual(t, silence, own+forwardCost, f.what)
		}
		require.Less(t, silence, slack, f.what)
	}
	// The PC's own daemon carries the connections: its restart is a gap of its own.
	from := time.Now()
	require.NoError(t, home.Set(map[string]string{"RELAY_TOKEN": opsToken, "RELAY_TOKEN_OLD": localsite.Token}))
	opsRestart(s, home)
	talk.flows(20)
	t.Logf("restart of the program's own PC: the program was without a relay for %v", talk.longest(from).Round(time.Millisecond))
	talk.once()
}

// othersLead waits until another than n leads.
func (s *site) othersLead(n *localsite.Node) {
	s.t.Helper()
	s.until(2*slack, "another than "+n.Station+" leads", func() error {
		for _, x := range s.others(n) {
			if st, err := x.Status(s.t.Context()); err == nil && st.Role == "leader" && st.Relay.State == "running" {
				return nil
			}
		}
		return errNotYet
	})
}

// cloudEpoch tells the stand-in of the cloud relay from the site's.
const cloudEpoch = 999_999

// cloud starts a stand-in of the relay outside the site and returns its address.
func cloud(t *testing.T) string {
	t.Helper()
	ports, err := freeport.Pairs(1)
	require.NoError(t, err)
	cmd := exec.Command(exe, "standin")
	cmd.Env = append(os.Environ(), "RELAY_PORT="+strconv.Itoa(ports[0]), "KMSN="+localsite.KMSN, "RELAY_EPOCH="+strconv.Itoa(cloudEpoch))
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { procs.PowerCut(cmd.Process.Pid); _ = cmd.Wait() })
	return fmt.Sprintf("127.0.0.1:%d", ports[0])
}

// greeted is a program that notes which relay it reaches.
type greeted struct {
	mu   sync.Mutex
	last uint64
}

func (g *greeted) run(t *testing.T, addr string) {
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	c := &standin.Client{
		KMSN: localsite.KMSN, Station: "CLIENT-A", Retry: 10 * time.Millisecond,
		Find: func(context.Context) (string, error) { return addr, nil },
		OnConnect: func(h standin.Hello) {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.last = h.Epoch
		},
	}
	done.Go(func() { c.Run(ctx) })
	t.Cleanup(func() { stop(); done.Wait() })
}

func (g *greeted) epoch() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// While the site has no relay the program reaches the one outside, and comes back
// when the site has one again. The program's PC never leads, and so hears of the
// leader from the others only.
func TestForward_FallbackAndReturn(t *testing.T) {
	t.Parallel()
	outside := cloud(t)
	s := build(t, forwarding(t, localsite.Options{Nodes: 2, Extra: quick(), Adjust: func(i int, keys map[string]string) {
		keys["RELAY_HOST"], keys["FORWARD_FALLBACK"], keys["FORWARD_HOLD"] = outside, "1", "500ms"
		if i == 0 {
			keys["RELAY_PRIORITY"] = "0"
		}
	}}))
	require.NoError(t, s.StartAll())
	n, st := s.leader(0, 2*slack)
	require.Equal(t, s.Nodes[1], n)
	var program greeted
	program.run(t, s.forwardAddr(s.Nodes[0]))
	reaches := func(epoch uint64, what string) {
		t.Helper()
		s.until(2*slack, "the program reaches "+what, func() error {
			if got := program.epoch(); got != epoch {
				return fmt.Errorf("it reached epoch %d last, wanted %d", got, epoch)
			}
			return nil
		})
	}
	reaches(st.Epoch, "the site's relay")
	for _, gone := range []func(){
		func() { require.NoError(t, n.Stop(s.within(2*slack))) },
		func() { n.PowerCut() },
	} {
		gone()
		reaches(cloudEpoch, "the relay outside")
		s.status(s.Nodes[0], "shows the fallback", func(st localapi.Status) bool { return st.Forward.Fallback > 0 })
		require.NoError(t, n.Start())
		_, again := s.leader(st.Epoch, 2*slack)
		reaches(again.Epoch, "the site's relay again")
		st = again
	}
}
