package bubble

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/internal/testkit/memnet"
	"github.com/convertfw/floatrelay/lease"
)

// host is one PC: what of a member outlives a restart of its daemon.
type host struct {
	i     int
	addr  netip.Addr
	meter meter
	share *faulty.Share
	stall faulty.Gate   // closed: the share hangs
	cut   faulty.Switch // on: the share cannot be reached
	base  time.Duration // boot time when the bubble began
	rate  float64       // of its clock
	began time.Time
	runs  int
	boots int // how often it was switched on
}

// boot is the host's boot time.
func (h *host) boot() time.Duration {
	return h.base + time.Duration(float64(time.Since(h.began))*h.rate)
}

// untilBoot is how long, of real time, until an instant of boot time.
func (h *host) untilBoot(at time.Duration) time.Duration {
	d := at - h.boot()
	if d <= 0 {
		return 0
	}
	return time.Duration(float64(d)/h.rate) + 1
}

// node is one run of a daemon: gossip, driver and guards wired as
// internal/daemon wires them.
type node struct {
	*host
	site    *site
	id      lease.ID
	port    *port
	gossip  *gossip.Gossip
	driver  atomic.Pointer[arbiter.Driver]
	guards  *guards
	chain   *lease.Chain
	alive   atomic.Int64              // how many others it believes alive
	counted atomic.Pointer[time.Time] // when that last changed
	table   chan struct{}
	founded int // chains this node has offered to found

	cancel context.CancelFunc
	done   sync.WaitGroup
	gone   chan struct{} // closed when the daemon's process has ended
	off    chan struct{} // closed when the host has lost power

	mu   sync.Mutex
	thaw chan struct{} // not nil while the daemon is frozen
}

func (n *node) station() string { return fmt.Sprintf("POS-%03d", n.i) }

func (n *node) status() arbiter.Status {
	if d := n.driver.Load(); d != nil && !n.isGone() {
		return d.Status()
	}
	return arbiter.Status{}
}

func (n *node) isGone() bool {
	select {
	case <-n.gone:
		return true
	default:
		return false
	}
}

// post hands an event to the machine of a daemon that lives.
func (n *node) post(ev arbiter.Event) {
	if d := n.driver.Load(); d != nil && !n.isGone() {
		d.Post(ev)
	}
}

// now is boot time as the daemon reads it; a frozen daemon reads nothing.
func (n *node) now() time.Duration {
	n.mu.Lock()
	thaw := n.thaw
	n.mu.Unlock()
	if thaw != nil {
		<-thaw
	}
	return n.boot()
}

// start begins a new run of a daemon on a host.
func (s *site) start(h *host, peers ...int) *node {
	h.runs++
	n := &node{
		host: h, site: s, chain: lease.NewChain(h.share), table: make(chan struct{}, 1),
		gone: make(chan struct{}), off: make(chan struct{}),
		id: lease.ID{Node: fmt.Sprintf("00000000-0000-4000-8000-%012d", h.i), Run: fmt.Sprintf("%06x%06x", h.i, h.runs)},
	}
	n.guards = &guards{n: n}
	var err error
	n.gossip, err = gossip.New(gossip.Config{
		Self: n.id, KMSN: kmsn, Token: token, AdvertiseAddr: h.addr.String(), Port: gossipPort,
		Meta: n.meta(arbiter.Status{Role: arbiter.Ineligible, Reasons: reason.Of(reason.Starting)}),
		Peers: func() (out []string) {
			for _, p := range peers {
				out = append(out, memnet.Host(p).String())
			}
			return out
		},
		Transport: func(a netip.Addr, at int) (gossip.Transport, error) {
			p, err := s.net.Listen(a, at)
			n.port = &port{Port: p, own: &h.meter, meter: s.meter}
			return n.port, err
		},
	}, n)
	require.NoError(s.t, err)
	n.drive()
	s.mu.Lock()
	s.nodes[h.i] = n
	s.mu.Unlock()
	return n
}

// newShare returns a share id that no node has used before.
func (n *node) newShare() string {
	n.founded++
	return fmt.Sprintf("00000000-0000-4000-9000-%04d%04d%04d", n.i, n.runs, n.founded)
}

// drive starts the driver.
func (n *node) drive() {
	d, err := arbiter.NewDriver(arbiter.DriverConfig{
		Machine: arbiter.Config{
			Self: n.id, Boot: fmt.Sprintf("boot-%d-%d", n.i, n.boots), KMSN: kmsn, Station: n.station(),
			IP: n.addr.String(), Port: 9530, PID: 100 + n.runs, Priority: 100,
			TTL: ttl, Renew: renew, Poll: poll, Fence: fence, Beat: beat, Grace: 3 * time.Second,
			Seed: uint64(n.i*1000 + n.runs), Sealer: n.site.codec,
			NewShare: n.newShare,
		},
		Store: n.chain, Codec: n.site.codec, Net: n.gossip, Guards: n.guards, Now: n.now,
		Report: func(r arbiter.Report) {
			if r.Warn || n.site.size <= 10 {
				n.site.watch.note("%s: %v %v", n.station(), r.Reason, r.Because)
			}
		},
		OnStatus: func(s arbiter.Status) { n.gossip.SetMeta(n.meta(s)) },
	})
	require.NoError(n.site.t, err)
	n.driver.Store(d)
	var ctx context.Context
	ctx, n.cancel = context.WithCancel(context.Background())
	n.done.Go(func() { d.Run(ctx); n.site.watch.note("%s: driver ends", n.station()) })
	n.done.Go(func() { n.keepTable(ctx) })
	n.post(arbiter.TreeClear{})
}

// keepTable tells the machine of changes of the member table.
func (n *node) keepTable(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.table:
		}
		var rows []arbiter.Member
		alive := 0
		for _, r := range n.gossip.Members() {
			if r.Self {
				continue
			}
			if r.Up() {
				alive++
			}
			rows = append(rows, arbiter.Member{
				ID: r.ID, Station: r.Meta.Station, Addr: r.Addr.String(), Alive: r.Up(),
				Eligible: r.Meta.Eligible, Leads: r.Meta.Role == arbiter.Leader.String(), Priority: r.Meta.Priority, Share: r.Meta.Share,
				Rev: r.Meta.Rev, Epoch: r.Meta.Epoch,
			})
		}
		if now := time.Now(); n.alive.Swap(int64(alive)) != int64(alive) {
			n.counted.Store(&now)
		}
		n.post(arbiter.MembersChanged{Members: rows})
	}
}

func (n *node) meta(s arbiter.Status) gossip.Meta {
	m := gossip.Meta{
		V: 1, Station: n.station(), Role: s.Role.String(), Share: s.Share, Rev: s.Rev, Epoch: s.Epoch,
		Eligible: s.Eligible, Priority: 100, Why: s.Reasons, Version: "v1.0.0",
	}
	if s.Role == arbiter.Leader {
		m.Relay = n.addr.String() + ":9530"
	}
	return m
}

// Beat, Vouch, Head, LeaderGone and Members implement gossip.Handler.

func (n *node) Beat(from lease.ID, num uint64, body []byte) {
	if e := n.site.codec.Open("", 0, body); e.Kind == lease.Valid {
		n.post(arbiter.BeatReceived{From: from, Num: num, Entry: e})
	}
}

func (n *node) Vouch(from lease.ID, run string, num uint64) {
	n.post(arbiter.VouchReceived{From: from, Run: run, Num: num})
}

func (n *node) Head(from lease.ID, body []byte) {
	if e := n.site.codec.Open("", 0, body); e.Kind == lease.Valid {
		n.post(arbiter.HeadReceived{From: from, Entry: e})
	}
}

func (n *node) LeaderGone(id lease.ID) { n.post(arbiter.LeaderGone{ID: id}) }

func (n *node) Members() {
	select {
	case n.table <- struct{}{}:
	default:
	}
}
