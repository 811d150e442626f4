package bubble

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/internal/testkit/memnet"
	"github.com/convertfw/floatrelay/lease"
)

var story = flag.Bool("bubble.story", false, "tell what happened even if the test passes")

// The figures of every station: the defaults.
const (
	ttl   = 10 * time.Second
	renew = 3 * time.Second
	poll  = 2 * time.Second
	fence = 1500 * time.Millisecond
	beat  = 250 * time.Millisecond
)

const (
	kmsn       = "4711"
	token      = "a token that everybody at the site has"
	gossipPort = 7946
	// calm is how long gossip's goroutines may outlive its Close.
	calm = 5 * time.Second
)

// prime is how long the waiting side waits for x.
func prime(x time.Duration) time.Duration { return x + x/50 + 20*time.Millisecond }

// The bounds of DESIGN's figures: a dead leader's relay is replaced within
// failover by a member of its roster, and after any fault has healed there is
// exactly one relay within healed.
var (
	failover = prime(fence) + beat + time.Second
	healed   = prime(lease.TTLMax) + 2*time.Second
)

// site is a station of members in a bubble.
type site struct {
	t      *testing.T
	size   int
	net    *memnet.Net
	server *server
	codec  *lease.Codec
	watch  *watch
	hosts  []*host
	meters map[netip.Addr]*meter
	side   sync.WaitGroup // guards
	stop   chan struct{}  // ends the monitor

	mu    sync.Mutex
	nodes []*node // the newest run on each host
}

// build makes a station of n hosts and starts a daemon on each. With used, the
// share holds a chain that was given back; otherwise it is empty.
func build(t *testing.T, n int, used bool) *site {
	s := &site{
		t: t, size: n, net: memnet.New(rand.Uint64()), server: newServer(), watch: newWatch(),
		stop: make(chan struct{}), nodes: make([]*node, n),
		meters: map[netip.Addr]*meter{},
	}
	s.net.SetQuality(memnet.Quality{Min: 200 * time.Microsecond, Max: 2 * time.Millisecond})
	var err error
	s.codec, err = lease.NewCodec(kmsn, token)
	require.NoError(t, err)
	if used {
		s.past()
	}
	for i := range n {
		h := &host{
			i: i, addr: memnet.Host(i), began: time.Now(), boots: 1,
			base: between(time.Minute, 100*time.Hour), rate: 1 + (rand.Float64()-0.5)/100,
		}
		h.share = faulty.New(handle{server: s.server, min: time.Millisecond, max: 6 * time.Millisecond},
			faulty.Stall(&h.stall), faulty.When(faulty.Cut(), &h.cut))
		s.hosts = append(s.hosts, h)
		s.meters[h.addr] = &h.meter
	}
	for i, h := range s.hosts {
		s.start(h, s.neighbours(i)...)
	}
	s.side.Go(func() { s.watch.sample(s.sampling(), s.all, s.stop) })
	return s
}

// sampling is how often the monitor looks.
func (s *site) sampling() time.Duration {
	if s.size > 10 {
		return 50 * time.Millisecond
	}
	return 5 * time.Millisecond
}

// neighbours are whose addresses a host knows beforehand.
func (s *site) neighbours(i int) []int {
	return []int{(i + 1) % s.size, (i + s.size/2) % s.size, (i + s.size/3) % s.size}
}

// past puts a chain on the share that was given back.
func (s *site) past() {
	const share = "0a000000-0000-4000-8000-000000000000"
	body, err := s.codec.Seal(lease.Record{
		Share: share, KMSN: kmsn, Station: "OLD", Rev: 40, Epoch: 7,
		Owner: lease.ID{Node: "00000000-0000-4000-8000-999999999999", Run: "0123456789ab"},
		Boot:  "boot-old", State: lease.Released, Reason: "stop", IP: "10.0.9.9", Port: 9530, TTL: ttl, Fence: fence,
	})
	require.NoError(s.t, err)
	require.NoError(s.t, lease.NewChain(handle{server: s.server}).Found(s.t.Context(), share, 40, body))
}

func (s *site) meter(a netip.Addr) *meter { return s.meters[a] }

// all returns the newest run on each host, those that have ended included.
func (s *site) all() []*node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*node(nil), s.nodes...)
}

// live returns the daemons that run.
func (s *site) live() (out []*node) {
	for _, n := range s.all() {
		if n != nil && !n.isGone() {
			out = append(out, n)
		}
	}
	return out
}

// leader returns the daemon whose relay is ready, or nil.
func (s *site) leader() *node {
	for _, n := range s.live() {
		if st := n.status(); st.Role == arbiter.Leader && st.Relay == arbiter.RelayRunning {
			return n
		}
	}
	return nil
}

// within polls until cond holds and returns how long that took.
func (s *site) within(limit time.Duration, what string, cond func() bool) time.Duration {
	s.t.Helper()
	begin := time.Now()
	for !cond() {
		if time.Since(begin) > limit {
			require.Fail(s.t, "took too long", "%s: not within %v", what, limit)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Since(begin)
}

// settle waits until everybody knows everybody, one relay is ready, and its
// roster is full.
func (s *site) settle(limit time.Duration) *node {
	s.t.Helper()
	var l *node
	s.within(limit, fmt.Sprintf("a station of %d settles", len(s.live())), func() bool {
		l = s.leader()
		return l != nil && s.joined() && len(l.status().Roster) == min(len(s.live())-1, lease.RosterMax)
	})
	time.Sleep(2 * fence) // beats reach whom a roster has just named
	return l
}

// joined reports whether every live daemon sees exactly the others alive.
func (s *site) joined() bool {
	nodes := s.live()
	for _, n := range nodes {
		if int(n.alive.Load()) != len(nodes)-1 {
			return false
		}
	}
	return true
}

// replaced waits for a relay started after since, and returns how long after
// since that was.
func (s *site) replaced(since time.Time, limit time.Duration) time.Duration {
	s.t.Helper()
	s.within(limit-time.Since(since), "a new relay", func() bool {
		l := s.watch.last()
		return l.start.After(since) && l.end.IsZero()
	})
	return s.watch.last().start.Sub(since)
}

// steady requires that no relay starts or ends for d, and that exactly one
// lives.
func (s *site) steady(d time.Duration) {
	s.t.Helper()
	count := s.watch.count()
	time.Sleep(d)
	require.Equal(s.t, count, s.watch.count(), "no further change")
	require.Len(s.t, s.watch.running(), 1)
}

// close ends everything, lets the bubble come to rest and gives the verdict.
func (s *site) close() {
	s.net.Heal()
	for _, h := range s.hosts {
		h.stall.Open()
	}
	for _, n := range s.live() {
		s.thaw(n)
	}
	close(s.stop)
	for _, n := range s.live() {
		n.end()
	}
	s.side.Wait()
	for _, h := range s.hosts {
		h.share.Wait()
	}
	time.Sleep(calm)
	s.watch.readChain(s.server, s.codec)
	s.watch.verdict(s.t)
}
