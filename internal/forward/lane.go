package forward

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

const (
	// listenRetry is how often a port that another program holds is tried again.
	listenRetry = 5 * time.Second
	// acceptRetry is the pause after an accept that failed, as for want of
	// file handles.
	acceptRetry = 50 * time.Millisecond
)

// lane is one port of the Forwarder and the port of the relay that it leads to.
type lane struct {
	f       *Forwarder
	offset  int // 0 or 1, the same on both sides
	problem atomic.Pointer[string]

	mu sync.Mutex
	// lost is since when no relay of the site was reached; zero while one is.
	lost time.Time
	fall *refuge // nil while no program uses the fallback
}

func (l *lane) port() int { return l.f.opt.Port + l.offset }

// run serves the lane's port until ctx ends, and returns when its last
// connection has ended.
func (l *lane) run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		lc := net.ListenConfig{KeepAlive: -1} // a program of this PC does not vanish
		ln, err := lc.Listen(ctx, "tcp4", hostPort(Host, l.port()))
		if err != nil {
			l.trouble(ctx, err)
			pause(ctx, l.f.retry)
			continue
		}
		l.problem.Store(nil)
		l.accept(ctx, ln, &all)
	}
}

func (l *lane) trouble(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	text := fmt.Sprintf("port %d cannot be had: %v; end the program that holds it, or choose another FORWARD_PORT", l.port(), err)
	if was := l.problem.Swap(&text); was == nil || *was != text {
		l.f.log.Warn(fmt.Sprintf("forward: port %d cannot be had: %v", l.port(), err))
	}
}

func (l *lane) accept(ctx context.Context, ln net.Listener, all *sync.WaitGroup) {
	defer ln.Close()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	for {
		c, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			l.f.log.Warn("forward: cannot accept a program", zap.Error(err))
			pause(ctx, acceptRetry)
			continue
		}
		l.f.count.accepted.Add(1)
		if !l.f.count.enter(int64(l.f.opt.Max)) {
			l.f.count.full.Add(1)
			l.f.log.Warn(fmt.Sprintf("forward: a program was refused: there are %d connections already", l.f.opt.Max))
			c.Close()
			continue
		}
		all.Go(func() {
			defer l.f.count.leave()
			l.serve(ctx, c.(*net.TCPConn))
		})
	}
}

// moved is told that the relay moved: the new one gets its own time to start.
func (l *lane) moved() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = time.Now()
}

// reached notes that the site's relay answered, missed that it did not.
func (l *lane) reached() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = time.Time{}
}

// missed returns since when the site's relay has not been reached.
func (l *lane) missed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost.IsZero() {
		l.lost = time.Now()
	}
	return l.lost
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
