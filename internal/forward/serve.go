package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.uber.org/zap"
)

const (
	// dialEvery is the pause between two attempts to reach a relay that leads
	// but does not accept connections yet.
	dialEvery = 50 * time.Millisecond
	// dialPatience is how long one attempt may take.
	dialPatience = 2 * time.Second
	// dialGlance is the same for a relay that was long not reached, while there
	// is a fallback.
	dialGlance = 300 * time.Millisecond
)

var (
	errGaveUp = errors.New("the program closed before a relay was reached")
	errLate   = errors.New("no relay was reached in time")
)

// keepAlive notices within half a minute that the other PC is gone where no new
// leader tells so, as with a fallback.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// serve is the life of one program's connection.
func (l *lane) serve(ctx context.Context, in *net.TCPConn) {
	defer func() { _ = in.Close() }()
	ahead := readAhead(in)
	way, held, err := l.await(ctx, ahead)
	early := ahead.end()
	if way.conn != nil {
		defer way.leave()
	}
	if err == nil && held && ahead.closed() {
		err = errGaveUp
	}
	switch {
	case errors.Is(err, errGaveUp):
		l.f.count.gaveUp.Add(1)
		return
	case err != nil:
		if ctx.Err() == nil {
			l.f.count.late.Add(1)
			l.f.log.Warn(fmt.Sprintf("forward: a program was let go: %v (port %d)", err, l.port()))
		}
		return
	}
	way.count.Add(1)
	defer way.count.Add(-1)
	err = l.f.carry(way.ctx, in, way.conn, early)
	l.f.log.Debug("forward: a connection ended", zap.Int("port", l.port()), zap.NamedError("why", err))
}

// await holds the program until the relay is reached, or the fallback. held says
// that it had to wait.
func (l *lane) await(ctx context.Context, ahead *ahead) (_ way, held bool, _ error) {
	l.f.count.held.Add(1)
	defer l.f.count.held.Add(-1)
	until := time.Now().Add(l.f.opt.Hold)
	for ; ; held = true {
		v := l.f.now.Load()
		if !v.None() {
			conn, err := dial(v.ctx, hostPort(v.Host, v.Port+l.offset), l.patience(!held, until))
			if err == nil {
				l.reached()
				return l.direct(v, conn), held, nil
			}
		}
		lost := l.missed()
		left := time.Until(until)
		if l.f.opt.FallbackHost != "" {
			left = min(left, time.Until(lost.Add(l.f.opt.Hold)))
		}
		if left <= 0 {
			w, err := l.refuge(ctx)
			return w, held, err
		}
		if !v.None() {
			left = min(left, dialEvery)
		}
		if err := l.wait(ctx, v, ahead, left); err != nil {
			return way{}, held, err
		}
	}
}

// patience bounds one attempt. Even a program that comes late looks once.
func (l *lane) patience(first bool, until time.Time) time.Duration {
	l.mu.Lock()
	lost := l.lost
	l.mu.Unlock()
	if first && l.f.opt.FallbackHost != "" && !lost.IsZero() && time.Since(lost) >= l.f.opt.Hold {
		return dialGlance
	}
	return max(dialGlance, min(dialPatience, time.Until(until)))
}

// wait returns when there may be news, with an error if nobody waits for it.
func (l *lane) wait(ctx context.Context, v *view, ahead *ahead, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-v.ctx.Done():
	case <-ahead.gone:
		return errGaveUp
	case <-ctx.Done():
		return ctx.Err()
	}
	return ctx.Err()
}

func dial(ctx context.Context, addr string, patience time.Duration) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: patience, KeepAliveConfig: keepAlive}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}
