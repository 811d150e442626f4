package memnet

import (
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// segment is data under way; nil data is the end of the stream.
type segment struct {
	data []byte
	at   time.Time // when it arrives, if nothing holds it back
}

// half is one direction of a stream.
type half struct {
	net      *Net
	from, to netip.Addr

	mu     sync.Mutex
	queue  []segment
	ended  bool          // nothing more will be written
	closed bool          // the reader is gone
	moved  chan struct{} // closed and replaced on every change
}

// conn is one end of a stream.
type conn struct {
	port          *Port
	in, out       *half
	local, remote netip.AddrPort
	once          sync.Once

	mu           sync.Mutex
	read         time.Time // deadline
	deadlineMove chan struct{}
}

// pipe connects two ports.
func pipe(a, b *Port) (here, there *conn) {
	ab := &half{net: a.net, from: a.at.Addr(), to: b.at.Addr(), moved: make(chan struct{})}
	ba := &half{net: a.net, from: b.at.Addr(), to: a.at.Addr(), moved: make(chan struct{})}
	here = &conn{port: a, in: ba, out: ab, local: a.at, remote: b.at, deadlineMove: make(chan struct{})}
	there = &conn{port: b, in: ab, out: ba, local: b.at, remote: a.at, deadlineMove: make(chan struct{})}
	a.track(here, true)
	b.track(there, true)
	return here, there
}

// signal wakes the other side; the lock is held.
func (h *half) signal() {
	close(h.moved)
	h.moved = make(chan struct{})
}

// put sends data, or the end of it.
func (h *half) put(data []byte) error {
	at := time.Now().Add(h.net.latency(h.from, h.to))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return io.ErrClosedPipe
	}
	if h.ended {
		return net.ErrClosed
	}
	if n := len(h.queue); n > 0 && h.queue[n-1].at.After(at) {
		at = h.queue[n-1].at // a stream keeps its order
	}
	h.ended = data == nil
	h.queue = append(h.queue, segment{data, at})
	h.signal()
	return nil
}

// get copies what has arrived. If nothing has, wait is how long until the next
// segment could, or negative if only a change can help.
func (h *half) get(b []byte) (n int, wait time.Duration, moved <-chan struct{}, err error) {
	open := h.net.reachable(h.from, h.to)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return 0, 0, nil, net.ErrClosed
	}
	if len(h.queue) == 0 || !open {
		return 0, -1, h.moved, nil
	}
	s := &h.queue[0]
	if d := time.Until(s.at); d > 0 {
		return 0, d, h.moved, nil
	}
	if s.data == nil {
		return 0, 0, nil, io.EOF
	}
	n = copy(b, s.data)
	if s.data = s.data[n:]; len(s.data) == 0 {
		h.queue = h.queue[1:]
	}
	return n, 0, nil, nil
}

// hangUp is the reader going away.
func (h *half) hangUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.queue = nil
	h.signal()
}

// Read implements net.Conn.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		net := c.in.net.change()
		n, wait, moved, err := c.in.get(b)
		if n > 0 || err != nil {
			return n, err
		}
		deadline, shifted := c.deadline()
		left := time.Hour
		if !deadline.IsZero() {
			if left = time.Until(deadline); left <= 0 {
				return 0, errTimeout
			}
		}
		if wait >= 0 {
			left = min(left, wait)
		}
		t := time.NewTimer(left)
		select {
		case <-t.C:
		case <-moved:
		case <-net:
		case <-shifted:
		}
		t.Stop()
	}
}

// Write implements net.Conn. It never blocks.
func (c *conn) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if err := c.out.put(append([]byte(nil), b...)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close implements net.Conn: the other side reads what was written, then EOF.
func (c *conn) Close() error {
	c.once.Do(func() {
		_ = c.out.put(nil)
		c.in.hangUp()
		c.port.track(c, false)
	})
	return nil
}

func (c *conn) deadline() (time.Time, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read, c.deadlineMove
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read = t
	close(c.deadlineMove)
	c.deadlineMove = make(chan struct{})
	return nil
}

// SetWriteDeadline implements net.Conn; writing never blocks.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.local) }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }
