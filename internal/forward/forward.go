package forward

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// Host is the only address programs are served on.
const Host = "127.0.0.1"

// DefaultMax is how many connections one Forwarder carries or holds at once.
const DefaultMax = 1024

// ports is how many ports a relay has: the next one is for video.
const ports = 2

// Target is where the site's relay is. The zero Target says that nobody leads.
type Target struct {
	Epoch   uint64
	Station string // for the log only
	Host    string // the leading PC's address
	Port    int    // the relay's first port
}

// None reports whether nobody leads.
func (t Target) None() bool { return t.Host == "" }

// String names the target in the log and in status.
func (t Target) String() string {
	if t.None() {
		return "nobody leads"
	}
	return fmt.Sprintf("%s at %s, epoch %d", t.Station, hostPort(t.Host, t.Port), t.Epoch)
}

func (t Target) same(o Target) bool {
	return t.Epoch == o.Epoch && t.Host == o.Host && t.Port == o.Port
}

// Options of a Forwarder.
type Options struct {
	Port int           // FORWARD_PORT; the next one leads to the relay's second port
	Hold time.Duration // how long a new connection waits for a relay
	Idle time.Duration // after how long without a byte a connection ends; 0: never
	// Fallback is the host and first port of a relay outside the site; an empty
	// FallbackHost is none.
	FallbackHost string
	FallbackPort int
	Max          int // connections at once; 0 is DefaultMax
	Log          *zap.Logger
}

// view is one Target for as long as it holds. Its context ends when another one
// replaces it, and with it all that was reached through it.
type view struct {
	Target
	ctx context.Context
	end context.CancelFunc
}

func newView(t Target) *view {
	ctx, end := context.WithCancel(context.Background())
	return &view{t, ctx, end}
}

// Forwarder serves FORWARD_PORT and the next one. All methods are safe for
// concurrent use.
type Forwarder struct {
	opt   Options
	log   *zap.Logger
	lanes [ports]*lane
	count counters
	retry time.Duration // how often a port that another program holds is tried again
	tick  time.Duration // how often a silent connection is looked at

	mu  sync.Mutex // orders Follow
	now atomic.Pointer[view]
}

// New returns a Forwarder that serves nobody yet.
func New(opt Options) *Forwarder {
	if opt.Max <= 0 {
		opt.Max = DefaultMax
	}
	f := &Forwarder{opt: opt, log: opt.Log, retry: listenRetry, tick: tick}
	if opt.Idle > 0 {
		f.tick = min(tick, max(opt.Idle/4, 10*time.Millisecond))
	}
	f.now.Store(newView(Target{}))
	for i := range f.lanes {
		f.lanes[i] = &lane{f: f, offset: i}
	}
	return f
}

// Follow tells where the relay is now. If that is news, all connections to where
// it was end. It does not block.
func (f *Forwarder) Follow(t Target) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.now.Load()
	if was.same(t) {
		return
	}
	f.now.Store(newView(t)) // first: whoever reconnects at once must find it
	for _, l := range f.lanes {
		l.moved()
	}
	was.end()
	moved := f.count.open.Load()
	f.log.Info("forward: "+t.String(), zap.Int64("connections_ended", moved))
}

// Run serves until ctx ends. A port that cannot be had is tried again; Stats
// says so meanwhile.
func (f *Forwarder) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, l := range f.lanes {
		all.Go(func() { l.run(ctx) })
	}
	<-ctx.Done()
	f.now.Load().end()
	all.Wait()
}

func hostPort(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
