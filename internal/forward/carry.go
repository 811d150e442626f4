package forward

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// chunk is how many bytes are carried before the figures are brought up to
	// date.
	chunk = 4 << 20
	// tick is how often a silent connection is looked at.
	tick = 15 * time.Second
	// halfIdle is how long a connection of which one side has ended may be
	// silent.
	halfIdle = 5 * time.Minute
)

var errIdle = errors.New("no byte for too long")

// carriage is two connections that are joined.
type carriage struct {
	idle   time.Duration // 0: never
	tick   time.Duration // from look to look
	begun  time.Time
	active atomic.Int64 // when a byte was last noticed, counted from begun (ns)
	half   atomic.Bool  // one side has ended
}

// carry joins in (the program) and out (the relay) until both sides have ended,
// one has failed, or ctx ends. early is what the program has sent already.
func (f *Forwarder) carry(ctx context.Context, in, out *net.TCPConn, early []byte) error {
	c := &carriage{idle: f.opt.Idle, tick: f.tick, begun: time.Now()}
	var once sync.Once
	var why error
	abort := func(err error) {
		once.Do(func() {
			why = err
			_ = out.SetLinger(0) // the relay must not wait for what will never come
			_ = out.Close()
			_ = in.Close()
		})
	}
	defer context.AfterFunc(ctx, func() { abort(errors.New("the relay moved")) })()
	var both sync.WaitGroup
	both.Go(func() {
		n, err := out.Write(early)
		f.count.up.Add(uint64(n))
		if err == nil {
			err = c.copy(out, in, &f.count.up)
		}
		if err != nil {
			abort(err)
		}
	})
	both.Go(func() {
		if err := c.copy(in, out, &f.count.down); err != nil {
			abort(err)
		}
	})
	both.Wait()
	once.Do(func() {}) // what ctx does from now on changes nothing
	return why
}

// copy carries one direction until src ends, which it hands on: the other
// direction goes on.
func (c *carriage) copy(dst, src *net.TCPConn, count *atomic.Uint64) error {
	move := newMover(dst, src)
	for {
		_ = src.SetReadDeadline(time.Now().Add(c.tick))
		n, err := move(chunk)
		count.Add(uint64(n))
		if n > 0 {
			c.active.Store(int64(time.Since(c.begun)))
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			c.half.Store(true)
			return dst.CloseWrite()
		case errors.Is(err, os.ErrDeadlineExceeded):
			if limit := c.limit(); limit > 0 && time.Since(c.begun)-time.Duration(c.active.Load()) >= limit {
				return errIdle
			}
		default:
			return err
		}
	}
}

// limit is how long the connection may be silent now; 0 is for ever.
func (c *carriage) limit() time.Duration {
	if c.half.Load() && (c.idle == 0 || c.idle > halfIdle) {
		return halfIdle
	}
	return c.idle
}
