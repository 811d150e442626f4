package gossip

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
	"github.com/convertfw/floatrelay/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// patient waits after the tests for what memberlist on real sockets still has to
// end by itself; goleak alone waits for half a second.
type patient struct{ m *testing.M }

func (p patient) Run() int {
	code := p.m.Run()
	for end := time.Now().Add(generous); code == 0 && goleak.Find() != nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	return code
}

// recorder is a Handler that remembers what it was told.
type recorder struct {
	mu      sync.Mutex
	beats   []message
	vouches []message
	heads   []message
	gone    []lease.ID
	tables  int
}

func (r *recorder) with(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *recorder) Beat(from lease.ID, num uint64, body []byte) {
	r.with(func() { r.beats = append(r.beats, message{From: from, Num: num, Body: body}) })
}

func (r *recorder) Vouch(from lease.ID, run string, num uint64) {
	r.with(func() { r.vouches = append(r.vouches, message{From: from, Run: run, Num: num}) })
}

func (r *recorder) Head(from lease.ID, body []byte) {
	r.with(func() { r.heads = append(r.heads, message{From: from, Body: body}) })
}

func (r *recorder) LeaderGone(id lease.ID) { r.with(func() { r.gone = append(r.gone, id) }) }
func (r *recorder) Members()               { r.with(func() { r.tables++ }) }

func (r *recorder) gotBeats() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.beats)
}

func (r *recorder) gotVouches() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.vouches)
}

func (r *recorder) gotHeads() []message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.heads)
}

func (r *recorder) leadersGone() []lease.ID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.gone)
}

// node is one member under test.
type node struct {
	*Gossip
	rec  *recorder
	port *memnet.Port // nil on sockets
	host netip.Addr
}

func id(i int) lease.ID {
	return lease.ID{Node: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Run: fmt.Sprintf("%012x", 0xabc000+i)}
}

func testLog() *zap.Logger {
	if os.Getenv("GOSSIP_TEST_LOG") == "" {
		return zap.NewNop()
	}
	l, _ := zap.NewDevelopment()
	return l
}

// config is a member of the default site.
func config(i int) Config {
	return Config{
		Self: id(i), KMSN: "4711", Token: "secret",
		Meta: Meta{Station: fmt.Sprintf("POS-%02d", i), Eligible: true, Priority: 100, Version: "v1"},
		Log:  testLog(),
	}
}

// station makes members on a simulated network.
type station struct {
	t   *testing.T
	net *memnet.Net
}

func newStation(t *testing.T) *station {
	n := memnet.New(1)
	n.SetQuality(memnet.Quality{Min: 200 * time.Microsecond, Max: 2 * time.Millisecond})
	return &station{t: t, net: n}
}

const testPort = 7946

// start runs a member at a host; peers are the hosts it knows of.
func (s *station) start(cfg Config, host int, peers ...int) *node {
	s.t.Helper()
	n := &node{rec: &recorder{}, host: memnet.Host(host)}
	cfg.AdvertiseAddr, cfg.Port = n.host.String(), testPort
	if cfg.Peers == nil {
		cfg.Peers = func() []string {
			var out []string
			for _, p := range peers {
				out = append(out, memnet.Host(p).String())
			}
			return out
		}
	}
	cfg.Transport = func(a netip.Addr, port int) (Transport, error) {
		p, err := s.net.Listen(a, port)
		n.port = p
		return p, err
	}
	g, err := New(cfg, n.rec)
	require.NoError(s.t, err)
	n.Gossip = g
	return n
}

// closeAll ends members of a station. A probe of memberlist outlives its
// shutdown by a few intervals, and the bubble's time stops with the test.
func closeAll(nodes ...*node) {
	for _, n := range nodes {
		_ = n.Close()
	}
	time.Sleep(5 * time.Second)
}

// up returns the ids a member believes alive, itself excluded, sorted.
func (n *node) up() []lease.ID {
	ids := n.IDs()
	slices.SortFunc(ids, func(a, b lease.ID) int { return cmpString(a.String(), b.String()) })
	return ids
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// row returns what n believes of another member.
func (n *node) row(t *testing.T, i lease.ID) Row {
	t.Helper()
	for _, r := range n.Members() {
		if r.ID == i {
			return r
		}
	}
	require.Fail(t, "no such row", "%s does not know %s", n.cfg.Self, i)
	return Row{}
}

// within polls until cond holds, and returns how long that took. In a bubble
// the time is virtual.
func within(t *testing.T, limit time.Duration, what string, cond func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > limit {
			require.Fail(t, "took too long", "%s: not within %v", what, limit)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begin)
}

// see waits until each member sees exactly the others alive.
func see(t *testing.T, limit time.Duration, nodes ...*node) time.Duration {
	t.Helper()
	return within(t, limit, "members see each other", func() bool {
		for _, n := range nodes {
			if len(n.IDs()) != len(nodes)-1 {
				return false
			}
		}
		return true
	})
}
