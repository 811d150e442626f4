package gossip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/lease"
)

// ErrClosed is returned by calls after Close or Leave.
var ErrClosed = errors.New("gossip is closed")

// Gossip is one member's place in the cluster. All methods are safe for
// concurrent use.
type Gossip struct {
	cfg     Config
	log     *zap.Logger
	keys    *keys
	table   *table
	queue   *queue
	strange *strangers
	probes  *prober
	handler Handler
	beats   beats // of this member, while it leads
	heard   heard // of others; the queue's goroutine only

	watcher  watcher
	watchers atomic.Int32  // authenticated connections served
	reliable chan struct{} // bounds SendHead's streams

	metaMu   sync.Mutex
	meta     Meta
	metaKick chan struct{}
	metaOut  atomic.Pointer[[]byte] // what memberlist is told

	moved  chan struct{} // tells the join loop that the address changed
	claims chan struct{} // tells proveLoop that somebody has come

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	life sync.Mutex // serialises Leave, SetAddress and Close
	mu   sync.RWMutex
	ml   *memberlist.Memberlist // nil once closed
	tr   *splitter
	gen  uint64
	left bool
}

// New joins nobody yet but starts trying to, in the background. It fails if the
// configuration cannot work or the port is taken; the text says which key to
// change.
func New(cfg Config, h Handler) (*Gossip, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.Tuning = cfg.Tuning.withDefaults()
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	k, err := newKeys(cfg.Token, cfg.OldToken, cfg.KMSN)
	if err != nil {
		return nil, err
	}
	g := &Gossip{
		cfg: cfg, log: cfg.Log.Named("gossip"), keys: k, handler: h,
		queue:    newQueue(),
		reliable: make(chan struct{}, maxReliable),
		metaKick: make(chan struct{}, 1),
		moved:    make(chan struct{}, 1),
		claims:   make(chan struct{}, 1),
		meta:     cfg.Meta,
	}
	g.table = newTable(g.queue.tableChanged, cfg.Remembered)
	g.strange = newStrangers(g.queue.tableChanged)
	g.table.claimed, g.table.came = g.claimed, g.strange.joined
	g.watcher.g = g
	g.probes = newProber(g)
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.publishMeta(cfg.Meta)
	advertise, _ := parseAdvertise(cfg.AdvertiseAddr) // validated
	if err := g.start(advertise); err != nil {
		g.cancel()
		return nil, err
	}
	g.wg.Go(func() { g.queue.run(g.ctx, h, g.hear, g.tableChanged) })
	g.wg.Go(g.joinLoop)
	g.wg.Go(func() { g.metaLoop(cfg.Meta) })
	g.wg.Go(g.proveLoop)
	g.wg.Go(func() { g.probes.quick(g.ctx) })
	for range probeWorkers {
		g.wg.Go(func() { g.probes.run(g.ctx) })
	}
	return g, nil
}

// start binds and creates memberlist. life is held, or nobody knows g yet.
func (g *Gossip) start(advertise netip.Addr) error {
	inner, err := g.bind(advertise)
	if err != nil {
		return err
	}
	tr := split(inner, g.serveWatch)
	g.mu.Lock()
	g.gen++
	d := &delegate{g: g, gen: g.gen}
	g.mu.Unlock()
	ml, err := memberlist.Create(g.mlConfig(advertise, tr, d))
	if err != nil {
		_ = tr.Shutdown()
		return fmt.Errorf("start gossip: %w", err)
	}
	g.mu.Lock()
	g.ml, g.tr = ml, tr
	g.mu.Unlock()
	return nil
}

func (g *Gossip) bind(advertise netip.Addr) (Transport, error) {
	if g.cfg.Transport != nil {
		return g.cfg.Transport(advertise, g.cfg.Port)
	}
	at, err := parseBind(g.cfg.BindAddr)
	if err != nil {
		return nil, err
	}
	if at.IsValid() && at.String() == g.cfg.AdvertiseAddr {
		at = advertise // bound to the address that may have changed
	}
	s, err := listen(at, advertise, g.cfg.Port)
	if err != nil {
		return nil, err
	}
	if g.cfg.Port == 0 { // only in New, before anybody reads it
		g.cfg.Port = s.port()
	}
	return s, nil
}

// mlConfig is the tuning of DESIGN's figures; see Tuning.
func (g *Gossip) mlConfig(advertise netip.Addr, tr Transport, d *delegate) *memberlist.Config {
	t := g.cfg.Tuning
	c := memberlist.DefaultLANConfig()
	c.Name = g.cfg.Self.String()
	c.Transport = tr
	c.Label = siteLabel(g.cfg.KMSN)
	c.Keyring = g.keys.ring
	c.BindPort, c.AdvertisePort = g.cfg.Port, g.cfg.Port
	c.AdvertiseAddr = advertise.String()
	c.Logger = log.New(&logBridge{log: g.log, suspect: g.table.suspect, strange: g.strange, limit: newLimiter(logRate)}, "", 0)
	c.LogOutput = nil
	c.Delegate, c.Events, c.Ping = d, d, d

	c.TCPTimeout = t.StreamTimeout
	c.ProbeInterval, c.ProbeTimeout = t.ProbeInterval, t.ProbeTimeout
	c.SuspicionMult = t.SuspicionMult
	// Two members that die together confirm nothing for each other; the wait
	// for a confirmation must stay short.
	c.SuspicionMaxTimeoutMult = 2
	c.AwarenessMaxMultiplier = 4
	c.GossipInterval = t.GossipInterval
	c.GossipToTheDeadTime = t.ToTheDead
	c.DeadNodeReclaimTime = t.Reclaim
	c.PushPullInterval = t.PushPull
	c.UDPBufferSize = maxDatagram
	// Records and metadata are short and full of hashes: nothing to gain.
	c.EnableCompression = false
	return c
}

// list returns the running memberlist, or nil.
func (g *Gossip) list() *memberlist.Memberlist {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.ml
}

// transport returns the running transport, or nil.
func (g *Gossip) transport() Transport {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.tr == nil {
		return nil
	}
	return g.tr
}

// Members returns the member table: this member first, then by station.
func (g *Gossip) Members() []Row { return g.table.list() }

// Port is the port in use, also when 0 was asked for.
func (g *Gossip) Port() int { return g.cfg.Port }

// Health is memberlist's score of this member's own liveliness: 0 is healthy,
// 3 the worst (probes slowed down four times).
func (g *Gossip) Health() int {
	if ml := g.list(); ml != nil {
		return ml.GetHealthScore()
	}
	return 0
}

// Dropped is how many messages the handler was too slow for.
func (g *Gossip) Dropped() uint64 { return g.queue.dropped.Load() }

// Watchers is how many members are connected to this daemon because they watch
// it as the leader.
func (g *Gossip) Watchers() int { return int(g.watchers.Load()) }

// claimed tells proveLoop that a run has to prove itself.
func (g *Gossip) claimed() {
	select {
	case g.claims <- struct{}{}:
	default:
	}
}

// UsesNewToken reports whether every live member reads RELAY_TOKEN, so that
// nothing needs RELAY_TOKEN_OLD at the moment. Without an old token it is true.
func (g *Gossip) UsesNewToken() bool { return g.keys.usesNew() }

// TokenID is the fingerprint of RELAY_TOKEN at this site, as members announce
// it.
func (g *Gossip) TokenID() string { return g.keys.fresh.print }

// tableChanged runs before the handler hears of a change: the members decide
// which key everybody can read.
func (g *Gossip) tableChanged() {
	var reads [][]string
	for _, r := range g.table.list() {
		if (r.Up() || r.claimed) && !r.Self { // or its question would be in a key it lacks
			reads = append(reads, r.Meta.Keys)
		}
	}
	if g.keys.choose(reads) {
		g.log.Info("changed the key used for sending", zap.Bool("new", g.keys.usesNew()), zap.String("token", g.keys.primary().print))
	}
}

// SetAddress moves this member to another address (a new DHCP lease). It says
// goodbye under the old one, binds again and rejoins; it takes up to a second.
// Watch connections to this daemon end. If it fails nothing is running, and it
// may be called again.
func (g *Gossip) SetAddress(advertise string) error {
	a, err := parseAdvertise(advertise)
	if err != nil {
		return err
	}
	g.life.Lock()
	defer g.life.Unlock()
	if g.ctx.Err() != nil || g.left {
		return ErrClosed
	}
	_ = g.end(500*time.Millisecond, true) // whatever it could not say, the next start says
	if err := g.start(a); err != nil {
		return fmt.Errorf("move gossip to %s: %w", a, err)
	}
	select {
	case g.moved <- struct{}{}:
	default:
	}
	return nil
}

// Leave says goodbye, so that the others need not find out, and waits until
// that was sent or timeout passed. The member stays connected until Close but
// joins nobody any more. Calling it again, or after Close, does nothing.
func (g *Gossip) Leave(timeout time.Duration) error {
	g.life.Lock()
	defer g.life.Unlock()
	g.mu.Lock()
	ml, again := g.ml, g.left
	g.left = true
	g.mu.Unlock()
	if ml == nil || again {
		return nil
	}
	g.sayBye()
	if err := ml.Leave(timeout); err != nil {
		return fmt.Errorf("leave the cluster: %w", err)
	}
	return nil
}

// Close ends everything at once, without a goodbye, and waits for it. The
// handler is not called after it returned. Calling it again does nothing.
func (g *Gossip) Close() error {
	g.life.Lock()
	defer g.life.Unlock()
	g.watcher.mu.Lock() // Watch starts nothing after this
	g.cancel()
	g.watcher.mu.Unlock()
	err := g.end(0, false)
	g.wg.Wait()
	return err
}

// end shuts memberlist down, after a goodbye if asked. life is held; memberlist
// panics if it is asked to leave after that, hence the nil.
func (g *Gossip) end(timeout time.Duration, goodbye bool) error {
	g.mu.Lock()
	ml := g.ml
	g.ml, g.tr = nil, nil
	g.mu.Unlock()
	if ml == nil {
		return nil
	}
	if goodbye {
		if err := ml.Leave(timeout); err != nil {
			g.log.Debug("leave before moving", zap.Error(err))
		}
	}
	if err := ml.Shutdown(); err != nil {
		return fmt.Errorf("shut gossip down: %w", err)
	}
	return nil
}

var _ io.Closer = (*Gossip)(nil)

// IDs returns the ids of the members believed alive, this one excluded.
func (g *Gossip) IDs() []lease.ID {
	var ids []lease.ID
	for _, r := range g.table.list() {
		if r.Up() && !r.Self {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
