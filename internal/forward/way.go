package forward

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// probeEvery is how often the site's relay is tried while programs use the
// fallback.
const probeEvery = 250 * time.Millisecond

// way is a connection to a relay.
type way struct {
	conn  *net.TCPConn
	ctx   context.Context // the connection ends with it
	count *atomic.Int64   // of its kind
	leave func()          // closes it
}

// direct is the way to the site's relay.
func (l *lane) direct(v *view, conn *net.TCPConn) way {
	return way{conn: conn, ctx: v.ctx, count: &l.f.count.open, leave: func() { _ = conn.Close() }}
}

// refuge is where programs of one lane go while the site has no relay. Its
// context ends when the site has one again.
type refuge struct {
	ctx  context.Context
	end  context.CancelFunc
	uses int
}

// refuge is the way to the fallback, if there is one.
func (l *lane) refuge(ctx context.Context) (way, error) {
	opt := &l.f.opt
	if opt.FallbackHost == "" {
		return way{}, errLate
	}
	addr := hostPort(opt.FallbackHost, opt.FallbackPort+l.offset)
	conn, err := dial(ctx, addr, dialPatience)
	if err != nil {
		return way{}, fmt.Errorf("%w, and the fallback RELAY_HOST was not either: %w", errLate, err)
	}
	r := l.enter(ctx, addr)
	return way{conn: conn, ctx: r.ctx, count: &l.f.count.fallback, leave: func() {
		_ = conn.Close()
		l.exit(r)
	}}, nil
}

func (l *lane) enter(ctx context.Context, addr string) *refuge {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fall == nil {
		r := &refuge{}
		r.ctx, r.end = context.WithCancel(ctx)
		l.fall = r
		l.f.log.Warn("forward: the site has no relay; programs are led to the fallback " + addr)
		go l.watchReturn(r)
	}
	l.fall.uses++
	return l.fall
}

func (l *lane) exit(r *refuge) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.uses--; r.uses == 0 {
		r.end()
		if l.fall == r {
			l.fall = nil
		}
	}
}

// watchReturn ends the refuge once the site's relay accepts connections, so that
// programs come back. That somebody leads is not enough: a relay may take long to
// start, or not be reachable from this PC.
func (l *lane) watchReturn(r *refuge) {
	for ; r.ctx.Err() == nil; pause(r.ctx, probeEvery) {
		v := l.f.now.Load()
		if v.None() {
			continue
		}
		conn, err := dial(r.ctx, hostPort(v.Host, v.Port+l.offset), dialPatience)
		if err != nil {
			continue
		}
		_ = conn.Close()
		l.reached()
		l.f.log.Info("forward: the site has a relay again; programs on the fallback are led back")
		l.mu.Lock()
		if l.fall == r {
			l.fall = nil // who comes now starts anew
		}
		l.mu.Unlock()
		r.end()
	}
}
