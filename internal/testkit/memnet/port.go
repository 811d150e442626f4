package memnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Errors of sending and dialing.
var (
	errRefused = errors.New("connection refused")
	errTimeout = &timeoutError{}
)

// timeoutError is a net.Error.
type timeoutError struct{}

func (*timeoutError) Error() string   { return "i/o timeout" }
func (*timeoutError) Timeout() bool   { return true }
func (*timeoutError) Temporary() bool { return true }

// inbox is how many packets wait for a reader before more are lost.
const inbox = 1024

// Port is one process's gossip port: a gossip.Transport.
type Port struct {
	net     *Net
	at      netip.AddrPort
	packets chan *memberlist.Packet
	streams chan net.Conn
	done    chan struct{}

	mu    sync.Mutex
	conns map[*conn]struct{}
	once  sync.Once
}

var _ memberlist.NodeAwareTransport = (*Port)(nil)

func newPort(n *Net, at netip.AddrPort) *Port {
	return &Port{
		net: n, at: at,
		packets: make(chan *memberlist.Packet, inbox),
		streams: make(chan net.Conn),
		done:    make(chan struct{}),
		conns:   map[*conn]struct{}{},
	}
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (p *Port) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return p.at.Addr().AsSlice(), int(p.at.Port()), nil
}

// WriteTo implements memberlist.Transport.
func (p *Port) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, fmt.Errorf("send packet: %w", err)
	}
	select {
	case <-p.done:
		return time.Time{}, net.ErrClosed
	default:
	}
	now := time.Now()
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stats.Packets++
	n.stats.Bytes += uint64(len(b))
	if n.tap != nil {
		n.tap(p.at, to, b)
	}
	q := n.quality(p.at.Addr(), to.Addr())
	if n.rng.Float64() < q.Loss || !n.passes(p.at.Addr(), to.Addr()) {
		n.stats.Lost++
		return now, nil
	}
	packet := &memberlist.Packet{Buf: append([]byte(nil), b...), From: net.UDPAddrFromAddrPort(p.at)}
	time.AfterFunc(n.draw(q), func() { n.arrive(to, packet) })
	return now, nil
}

// arrive puts a packet into the inbox of whoever listens then.
func (n *Net) arrive(to netip.AddrPort, packet *memberlist.Packet) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.ports[to]
	if p == nil || n.off[to.Addr()] {
		n.stats.Lost++
		return
	}
	packet.Timestamp = time.Now()
	select {
	case p.packets <- packet:
	default:
		n.stats.Lost++
	}
}

// WriteToAddress implements memberlist.NodeAwareTransport.
func (p *Port) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return p.WriteTo(b, a.Addr)
}

// PacketCh implements memberlist.Transport.
func (p *Port) PacketCh() <-chan *memberlist.Packet { return p.packets }

// StreamCh implements memberlist.Transport.
func (p *Port) StreamCh() <-chan net.Conn { return p.streams }

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (p *Port) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return p.DialTimeout(a.Addr, timeout)
}

// DialTimeout implements memberlist.Transport. Towards a dark or unreachable
// host it takes the whole timeout; nobody listening is refused after a round
// trip.
func (p *Port) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	n := p.net
	for {
		change := n.change()
		if n.reachable(p.at.Addr(), to.Addr()) && n.reachable(to.Addr(), p.at.Addr()) {
			break
		}
		select {
		case <-change:
		case <-timer.C:
			return fail(errTimeout)
		case <-p.done:
			return fail(net.ErrClosed)
		}
	}
	trip := time.NewTimer(n.latency(p.at.Addr(), to.Addr()) + n.latency(to.Addr(), p.at.Addr()))
	defer trip.Stop()
	select {
	case <-trip.C:
	case <-timer.C:
		return fail(errTimeout)
	case <-p.done:
		return fail(net.ErrClosed)
	}
	n.mu.Lock()
	peer := n.ports[to]
	n.stats.Streams++
	n.mu.Unlock()
	if peer == nil {
		return fail(errRefused)
	}
	here, there := pipe(p, peer)
	select {
	case peer.streams <- there:
		return here, nil
	case <-peer.done:
		_ = here.Close()
		return fail(errRefused)
	case <-timer.C:
		_ = here.Close()
		return fail(errTimeout)
	}
}

// Kill ends the process: the port is free and its connections are reset. It is
// also what Shutdown does, and calling it again does nothing.
func (p *Port) Kill() {
	p.once.Do(func() {
		close(p.done)
		n := p.net
		n.mu.Lock()
		if n.ports[p.at] == p {
			delete(n.ports, p.at)
		}
		n.signal()
		n.mu.Unlock()
		p.mu.Lock()
		conns := make([]*conn, 0, len(p.conns))
		for c := range p.conns {
			conns = append(conns, c)
		}
		p.mu.Unlock()
		for _, c := range conns {
			_ = c.Close()
		}
	})
}

// Shutdown implements memberlist.Transport.
func (p *Port) Shutdown() error {
	p.Kill()
	return nil
}

func (p *Port) track(c *conn, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open {
		p.conns[c] = struct{}{}
	} else {
		delete(p.conns, c)
	}
}
