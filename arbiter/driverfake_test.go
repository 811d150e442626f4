package arbiter

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// fakeStore is a chain in memory. Calls named in stuck block until their
// context ends; every call is noted.
type fakeStore struct {
	mu    sync.Mutex
	share string
	chain map[uint64][]byte
	stuck map[string]bool
	delay map[string]time.Duration
	calls map[string]int
	live  map[string]int // calls under way
	most  map[string]int // most calls under way at once
	views []lease.View
}

func newFakeStore() *fakeStore {
	return &fakeStore{
		share: share, chain: map[uint64][]byte{}, stuck: map[string]bool{}, delay: map[string]time.Duration{},
		calls: map[string]int{}, live: map[string]int{}, most: map[string]int{},
	}
}

// call is what every method does first.
func (s *fakeStore) call(ctx context.Context, lane string) error {
	s.mu.Lock()
	s.calls[lane]++
	s.live[lane]++
	s.most[lane] = max(s.most[lane], s.live[lane])
	stuck, delay := s.stuck[lane], s.delay[lane]
	s.mu.Unlock()
	defer func() { s.mu.Lock(); s.live[lane]--; s.mu.Unlock() }()
	if stuck {
		<-ctx.Done()
		return lease.ErrUnknown
	}
	time.Sleep(delay)
	return nil
}

func (s *fakeStore) setStuck(lane string, on bool) { s.mu.Lock(); s.stuck[lane] = on; s.mu.Unlock() }

func (s *fakeStore) count(lane string) int { s.mu.Lock(); defer s.mu.Unlock(); return s.calls[lane] }

func (s *fakeStore) List(ctx context.Context) (lease.Listing, error) {
	if err := s.call(ctx, "read"); err != nil {
		return lease.Listing{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var l lease.Listing
	for rev := range s.chain {
		l.Share = s.share
		l.Revs = append(l.Revs, rev)
	}
	slices.Sort(l.Revs)
	return l, nil
}

func (s *fakeStore) Read(ctx context.Context, _ string, rev uint64) ([]byte, error) {
	if err := s.call(ctx, "read"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.chain[rev]
	if !ok {
		return nil, lease.ErrNotExist
	}
	return body, nil
}

func (s *fakeStore) Create(ctx context.Context, _ string, rev uint64, body []byte) error {
	if err := s.call(ctx, "create"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.chain[rev]; taken {
		return lease.ErrExists
	}
	s.chain[rev] = body
	return nil
}

func (s *fakeStore) Found(ctx context.Context, id string, rev uint64, genesis []byte) error {
	if err := s.call(ctx, "create"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.share, s.chain = id, map[uint64][]byte{rev: genesis}
	return nil
}

func (s *fakeStore) Delete(ctx context.Context, _ string, revs []uint64) error {
	if err := s.call(ctx, "housekeep"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rev := range revs {
		delete(s.chain, rev)
	}
	return nil
}

func (s *fakeStore) Publish(ctx context.Context, v lease.View) error {
	if err := s.call(ctx, "publish"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views = append(s.views, v)
	return nil
}

// fakeNet notes what was sent, and lets members vouch.
type fakeNet struct {
	d        *Driver
	mu       sync.Mutex
	vouching []lease.ID
	beats    []time.Time
	heads    int
	reliable time.Duration // how long a reliable send takes
	watched  lease.ID
}

func (n *fakeNet) SendBeat(to []lease.ID, num uint64, _ []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.beats = append(n.beats, time.Now())
	for _, id := range n.vouching {
		if containsID(to, id) {
			n.d.Post(VouchReceived{From: id, Run: idA.Run, Num: num})
		}
	}
	return nil
}

func (n *fakeNet) SendVouch(lease.ID, string, uint64) error { return nil }

func (n *fakeNet) SendHead(_ lease.ID, _ []byte, reliable bool) error {
	if reliable {
		time.Sleep(n.reliable)
	}
	n.mu.Lock()
	n.heads++
	n.mu.Unlock()
	return nil
}

func (n *fakeNet) Watch(id lease.ID) { n.mu.Lock(); n.watched = id; n.mu.Unlock() }

// fakeGuards is a guard whose relay is ready at once.
type fakeGuards struct {
	d       *Driver
	mu      sync.Mutex
	log     []Action
	stops   int
	started []Phase // what the driver's status said as each relay was started
}

func (g *fakeGuards) note(a Action) { g.mu.Lock(); g.log = append(g.log, a); g.mu.Unlock() }

func (g *fakeGuards) Start(a StartRelay) {
	g.note(a)
	g.mu.Lock()
	g.started = append(g.started, g.d.Status().Relay)
	g.mu.Unlock()
	g.d.Post(GuardAcked{Gen: a.Gen, Seq: a.Seq})
	g.d.Post(RelayReady{Gen: a.Gen, PID: 1})
}

func (g *fakeGuards) SetUntil(a SetUntil) { g.note(a); g.d.Post(GuardAcked{Gen: a.Gen, Seq: a.Seq}) }
func (g *fakeGuards) SetWill(a SetWill)   { g.note(a) }

func (g *fakeGuards) Stop(a StopRelay) {
	g.note(a)
	g.mu.Lock()
	g.stops++
	g.mu.Unlock()
	g.d.Post(RelayDown{Gen: a.Gen, Cause: DownStopped})
}

func (g *fakeGuards) stopped() int { g.mu.Lock(); defer g.mu.Unlock(); return g.stops }

func (n *fakeNet) sentHeads() int { n.mu.Lock(); defer n.mu.Unlock(); return n.heads }

// driven is a driver in a bubble with its fakes.
type driven struct {
	*Driver
	store  *fakeStore
	net    *fakeNet
	guards *fakeGuards
	cancel context.CancelFunc
	done   chan struct{}
}

// drive starts a driver; it is ended and waited for when the test ends.
func drive(t *testing.T, opts ...func(*DriverConfig)) *driven {
	t.Helper()
	x := &driven{store: newFakeStore(), net: &fakeNet{}, guards: &fakeGuards{}, done: make(chan struct{})}
	begin := time.Now()
	cfg := DriverConfig{
		Machine: testConfig(t, idA), Store: x.store, Codec: testCodec(t, site, "secret"), Net: x.net, Guards: x.guards,
		Now: func() time.Duration { return zero + time.Since(begin) },
	}
	for _, o := range opts {
		o(&cfg)
	}
	d, err := NewDriver(cfg)
	require.NoError(t, err)
	x.Driver, x.net.d, x.guards.d = d, d, d
	ctx, cancel := context.WithCancel(t.Context())
	x.cancel = cancel
	go func() { defer close(x.done); d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-x.done
		d.workers.Wait()
	})
	return x
}

// leads lets the driver take a released head and lead with these members.
func (x *driven) leads(t *testing.T, with ...lease.ID) {
	t.Helper()
	r := newRig(t)
	x.store.mu.Lock()
	x.store.chain[6] = r.entry(6, 3, idD, released(idA)).Body
	x.store.mu.Unlock()
	x.net.mu.Lock()
	x.net.vouching = with
	x.net.mu.Unlock()
	var rows []Member
	for _, id := range with {
		rows = append(rows, alive(id))
	}
	x.Post(MembersChanged{Members: rows})
	x.Post(TreeClear{})
	time.Sleep(5 * sec) // the first listing may have shown an empty folder
	require.Equal(t, Leader, x.Status().Role)
	require.Equal(t, RelayRunning, x.Status().Relay)
}
