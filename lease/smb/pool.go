package smb

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/cloudsoda/go-smb2"

	"github.com/convertfw/floatrelay/lease"
)

// How many idle connections are kept: one per lane that calls at the same time.
const keepIdle = 4

// After a failure to connect nobody tries again for a while, so that a server
// that is down costs little, and one that is up again is found soon.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = time.Second
	// loginPause follows a refused login: servers lock an account that fails
	// too often.
	loginPause = 30 * time.Second
)

// pool holds the connections to one share. A connection serves one call at a
// time.
type pool struct {
	addr     address
	password string
	dialTime time.Duration

	mu     sync.Mutex
	idle   []*session
	closed bool
	pause  time.Duration
	until  time.Time // no new connection before this
	last   error     // why
}

// take returns a connection for one call. reused says that it served others
// before, so that it may have died unnoticed.
func (p *pool) take(ctx context.Context) (s *session, reused bool, err error) {
	if s := p.pop(); s != nil {
		return s, true, nil
	}
	if err := p.waiting(); err != nil {
		return nil, false, err
	}
	s, err = p.connect(ctx)
	if ctx.Err() == nil || err == nil { // a caller who gave up says nothing about the server
		p.note(err)
	}
	return s, false, err
}

func (p *pool) pop() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := len(p.idle); n > 0; n = len(p.idle) {
		s := p.idle[n-1]
		p.idle = p.idle[:n-1]
		if !s.wire.dead.Load() {
			return s
		}
		s.close()
	}
	return nil
}

// waiting returns the last failure while it is too early to try again.
func (p *pool) waiting() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("%w: closed", lease.ErrUnavailable)
	}
	if time.Now().Before(p.until) {
		return p.last
	}
	return nil
}

func (p *pool) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.pause, p.until, p.last = 0, time.Time{}, nil
		return
	}
	p.pause = min(max(2*p.pause, firstPause), mostPause)
	wait := p.pause
	if refusedLogin(err) {
		wait = loginPause
	}
	p.until, p.last = time.Now().Add(wait), err
}

// give takes a healthy connection back.
func (p *pool) give(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= keepIdle || s.wire.dead.Load() {
		s.close()
		return
	}
	p.idle = append(p.idle, s)
}

// drop ends a connection that failed, and the idle ones with it: what broke
// one has usually broken all, and each would cost another call to find out.
func (p *pool) drop(s *session) {
	s.close()
	p.forget()
}

// forget ends the idle connections.
func (p *pool) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *pool) clear() {
	for _, s := range p.idle {
		s.close()
	}
	p.idle = nil
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.clear()
}

// connect dials, logs in and mounts. Its errors are the contract's.
func (p *pool) connect(ctx context.Context) (*session, error) {
	d := net.Dialer{Timeout: p.dialTime, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3,
	}}
	c, err := d.DialContext(ctx, "tcp", p.addr.dial())
	if err != nil {
		return nil, fmt.Errorf("%w: host %s not reachable: %w", lease.ErrUnavailable, p.addr.server(), err)
	}
	w := &wire{TCPConn: c.(*net.TCPConn)}
	defer context.AfterFunc(ctx, func() { _ = w.Close() })()
	fs, err := p.login(ctx, w)
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	return &session{wire: w, fs: fs}, nil
}

func (p *pool) login(ctx context.Context, w *wire) (*smb2.Share, error) {
	d := smb2.Dialer{
		Negotiator: smb2.Negotiator{RequireMessageSigning: true},
		Initiator:  &smb2.NTLMInitiator{User: p.addr.user, Password: p.password, Domain: p.addr.domain},
	}
	sess, err := d.DialConn(ctx, w, p.addr.dial())
	if err != nil {
		return nil, p.explainLogin(err)
	}
	fs, err := sess.WithContext(ctx).Mount(p.addr.mount())
	if err != nil {
		return nil, p.explainMount(err)
	}
	return fs, nil
}
