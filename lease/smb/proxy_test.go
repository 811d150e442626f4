//go:build e2e

package smb_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// proxy stands between client and server and breaks the connections when told.
type proxy struct {
	l      net.Listener
	server string

	// onRequest decides what becomes of each client message (whole SMB frames
	// arrive in one piece on loopback): nil passes it on.
	onRequest atomic.Pointer[func(frame []byte) fate]
	stalled   atomic.Bool  // nothing passes in either direction
	lostUpTo  atomic.Int64 // connections up to this number lead nowhere any more
	accepted  atomic.Int64

	mu    sync.Mutex
	conns map[net.Conn]bool
	shut  bool
}

// fate is what the proxy does with a frame.
type fate int

const (
	pass       fate = iota
	resetNow        // reset both ends; the server never sees it
	resetAfter      // let the server have it, then reset the client without the answer
)

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{l: l, server: server, conns: map[net.Conn]bool{}}
	go p.run()
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		p.shut = true
		p.mu.Unlock()
		p.reset()
	})
	return p
}

func (p *proxy) addr() string { return p.l.Addr().String() }

func (p *proxy) fates(f func(frame []byte) fate) { p.onRequest.Store(&f) }

func (p *proxy) run() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		n := p.accepted.Add(1)
		s, err := net.Dial("tcp", p.server)
		if err != nil {
			hardClose(c)
			continue
		}
		if !p.track(c) || !p.track(s) {
			hardClose(c)
			hardClose(s)
			return
		}
		m := &muted{carried: make(chan struct{})}
		go p.pump(s, c, n, m, true)
		go p.pump(c, s, n, m, false)
	}
}

func (p *proxy) track(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return !p.shut
}

// reset breaks every connection.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		hardClose(c)
	}
	p.conns = map[net.Conn]bool{}
}

func hardClose(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// lose makes every connection there is lead nowhere; new ones are good.
func (p *proxy) lose() { p.lostUpTo.Store(p.accepted.Load()) }

// muted is a connection whose answers disappear once on is set.
type muted struct {
	on      atomic.Bool
	last    atomic.Uint64 // message id of the last request that gets through
	carried chan struct{} // closed when the server has answered that
	once    sync.Once
}

// swallow takes an answer of the server.
func (m *muted) swallow(frame []byte) {
	const pending = 0x103 // the server says that its answer will take a while
	if messageID(frame) == m.last.Load() && binary.LittleEndian.Uint32(frame[8:]) != pending {
		m.once.Do(func() { close(m.carried) })
	}
}

// pump passes the frames of connection n on.
func (p *proxy) pump(to, from net.Conn, n int64, m *muted, request bool) {
	defer hardClose(to)
	defer hardClose(from)
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		size := int(head[1])<<16 | int(head[2])<<8 | int(head[3])
		frame := append(head, make([]byte, size)...)
		if _, err := io.ReadFull(from, frame[4:]); err != nil {
			return
		}
		for p.stalled.Load() {
			time.Sleep(5 * time.Millisecond)
		}
		if n <= p.lostUpTo.Load() {
			continue
		}
		f := pass
		if decide := p.onRequest.Load(); request && decide != nil {
			f = (*decide)(frame[4:])
		}
		if f == resetNow {
			return
		}
		if f == resetAfter {
			m.last.Store(messageID(frame[4:]))
			m.on.Store(true)
		}
		if !request && m.on.Load() {
			m.swallow(frame[4:])
			continue
		}
		if _, err := to.Write(frame); err != nil {
			return
		}
		if f == resetAfter {
			select {
			case <-m.carried:
			case <-time.After(30 * time.Second): // it cannot answer any more
			}
			return
		}
	}
}

// The commands of SMB 2 (MS-SMB2 2.2.1.2) that tests single out.
const (
	cmdCreate  = 5
	cmdWrite   = 9
	cmdFlush   = 7
	cmdSetInfo = 17
)

// command is the command of a frame.
func command(frame []byte) int { return int(frame[12]) | int(frame[13])<<8 }

// messageID is what a frame and its answer have in common.
func messageID(frame []byte) uint64 { return binary.LittleEndian.Uint64(frame[24:]) }

// once returns what to do with the first frame of a command.
func once(cmd int, f fate) func([]byte) fate {
	var done atomic.Bool
	return func(frame []byte) fate {
		if command(frame) == cmd && done.CompareAndSwap(false, true) {
			return f
		}
		return pass
	}
}
