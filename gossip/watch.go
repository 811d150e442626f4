package gossip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/lease"
)

const (
	// maxWatchers is how many members may be connected at a time; a roster has
	// at most seven, and those of the last one need a moment to leave.
	maxWatchers = 64
	// handshakeTimeout bounds the whole handshake, for slow and hostile peers.
	handshakeTimeout = 2 * time.Second
	// silentBeats is how many heartbeats may be missed.
	silentBeats = 3
	// redialFirst and redialMax space attempts to connect to the leader.
	redialFirst = 100 * time.Millisecond
	redialMax   = 2 * time.Second
)

// watcher keeps the one connection to the leader's daemon.
type watcher struct {
	g *Gossip

	mu     sync.Mutex
	target lease.ID
	stop   context.CancelFunc
}

// Watch names the leader to stay connected to; zero drops the connection. When
// an established connection to it ends by itself, Handler.LeaderGone is called,
// and connecting is tried again for as long as the target stays. It does not
// block.
func (g *Gossip) Watch(id lease.ID) {
	w := &g.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	if id == w.target || g.ctx.Err() != nil {
		return
	}
	if w.stop != nil {
		w.stop()
	}
	w.target, w.stop = id, nil
	if id.IsZero() || id == g.cfg.Self {
		return
	}
	ctx, stop := context.WithCancel(g.ctx)
	w.stop = stop
	g.wg.Go(func() { w.run(ctx, id) })
}

// run connects again and again until ctx ends.
func (w *watcher) run(ctx context.Context, id lease.ID) {
	pause := redialFirst
	for ctx.Err() == nil {
		begun := time.Now()
		established, err := w.once(ctx, id)
		if ctx.Err() != nil {
			return
		}
		w.g.log.Debug("connection to the leader's daemon ended", zap.Stringer("leader", id), zap.Bool("established", established), zap.Error(err))
		if established {
			w.g.queue.leaderGone(ctx, id)
		}
		if time.Since(begun) > redialMax {
			pause = redialFirst
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, redialMax)
	}
}

// once makes one connection and returns when it ended.
func (w *watcher) once(ctx context.Context, id lease.ID) (established bool, err error) {
	c, err := w.g.greet(ctx, id)
	if err != nil {
		return false, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	defer c.Close()
	return true, heartbeats(c, w.g.cfg.Tuning.Heartbeat)
}

// greet connects to a run and has it prove that it is that run. Both know then
// that the other lives.
func (g *Gossip) greet(ctx context.Context, id lease.ID) (net.Conn, error) {
	row, ok := g.table.get(id)
	if !ok || !row.Addr.IsValid() {
		return nil, fmt.Errorf("connect to member %s: its address is not known", id)
	}
	t := g.transport()
	if t == nil {
		return nil, fmt.Errorf("connect to member %s: no transport", id)
	}
	c, err := dial(ctx, t, row.Addr.String(), handshakeTimeout)
	if err != nil {
		return nil, fmt.Errorf("connect to member %s: %w", id, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_ = c.SetDeadline(time.Now().Add(handshakeTimeout))
	if err := watchHello(c, g.keys.primary(), g.cfg.KMSN, id, g.cfg.Self); err != nil {
		_ = c.Close()
		return nil, err
	}
	_ = c.SetDeadline(time.Time{})
	return c, nil
}

// dial is DialTimeout that can be given up. A connection made after that is
// closed at once.
func dial(ctx context.Context, t Transport, addr string, timeout time.Duration) (net.Conn, error) {
	type result struct {
		c   net.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		c, err := t.DialTimeout(addr, timeout)
		done <- result{c, err}
		if ctx.Err() != nil && c != nil {
			_ = c.Close()
		}
	}()
	select {
	case r := <-done:
		return r.c, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serveWatch is the leader's side of one connection.
func (g *Gossip) serveWatch(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(handshakeTimeout))
	from, err := watchWelcome(c, g.keys.pairs(), g.cfg.KMSN, g.cfg.Self)
	if err != nil {
		g.log.Debug("refused a watch connection", zap.String("from", hostOf(c.RemoteAddr())), zap.Error(err))
		return
	}
	g.table.prove(from)
	defer g.watchers.Add(-1)
	if g.watchers.Add(1) > maxWatchers {
		return
	}
	_ = c.SetDeadline(time.Time{})
	err = heartbeats(c, g.cfg.Tuning.Heartbeat)
	g.log.Debug("watch connection ended", zap.Stringer("member", from), zap.Error(err))
}

// heartbeats sends one byte each period and reads the other side's, until the
// connection ends or falls silent. It closes c.
func heartbeats(c net.Conn, every time.Duration) error {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				_ = c.SetWriteDeadline(time.Now().Add(every))
				if _, err := c.Write([]byte{0}); err != nil {
					_ = c.Close()
					return
				}
			}
		}
	})
	defer wg.Wait()
	defer close(done)
	defer c.Close()
	var b [64]byte
	for {
		_ = c.SetReadDeadline(time.Now().Add(silentBeats * every))
		if _, err := c.Read(b[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return fmt.Errorf("closed by the other side")
			}
			return fmt.Errorf("read heartbeat: %w", err)
		}
	}
}
