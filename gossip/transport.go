package gossip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/convertfw/floatrelay/internal/lanaddr"
)

const (
	// udpBuffer is asked of the system for bursts; less is accepted.
	udpBuffer = 1 << 20
	// maxPacket is the largest packet UDP can carry.
	maxPacket = 65535
	// bindTries covers a free TCP port whose UDP twin is taken (Port 0 only).
	bindTries = 10
)

// sockets is the Transport over one IPv4 UDP socket and one TCP listener on
// the same port. Unlike memberlist's own it does not allocate 64 KB for each
// packet and cannot get stuck while shutting down.
type sockets struct {
	advertise netip.Addr
	tcp       *net.TCPListener
	udp       *net.UDPConn
	packets   chan *memberlist.Packet
	streams   chan net.Conn
	ctx       context.Context // ends with Shutdown
	cancel    context.CancelFunc
	wg        sync.WaitGroup
}

// listen opens both sockets on bind (invalid: every IPv4 address).
func listen(bind, advertise netip.Addr, port int) (*sockets, error) {
	var err error
	for range bindTries {
		var s *sockets
		if s, err = listenOnce(bind, advertise, port); err == nil {
			return s, nil
		}
		if port != 0 {
			break
		}
	}
	return nil, err
}

func listenOnce(bind, advertise netip.Addr, port int) (*sockets, error) {
	host := "0.0.0.0"
	if bind.IsValid() {
		host = bind.String()
	}
	at := netip.MustParseAddr(host)
	tcp, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(netip.AddrPortFrom(at, uint16(port))))
	if err != nil {
		return nil, listenError("listen on TCP", at, port, err)
	}
	port = tcp.Addr().(*net.TCPAddr).Port
	udp, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at, uint16(port))))
	if err != nil {
		_ = tcp.Close()
		return nil, listenError("listen on UDP", at, port, err)
	}
	_ = udp.SetReadBuffer(udpBuffer)
	s := &sockets{
		advertise: advertise, tcp: tcp, udp: udp,
		packets: make(chan *memberlist.Packet),
		streams: make(chan net.Conn),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.accept)
	s.wg.Go(s.receive)
	return s, nil
}

// listenError tells an address that is not ours from a port that is taken.
func listenError(what string, at netip.Addr, port int, err error) error {
	if !at.IsUnspecified() && !at.IsLoopback() && !isOwn(at) {
		return fmt.Errorf("listen on GOSSIP_BIND=%s: this PC has no such address; remove the key or correct it: %w", at, err)
	}
	return fmt.Errorf("%s %s:%d (GOSSIP_BIND, GOSSIP_PORT): %w", what, at, port, err)
}

func isOwn(a netip.Addr) bool {
	cards, err := lanaddr.Cards()
	return err != nil || lanaddr.Facts{Cards: cards}.Own(a)
}

func (s *sockets) port() int { return s.tcp.Addr().(*net.TCPAddr).Port }

// FinalAdvertiseAddr implements memberlist.Transport. The address was chosen
// long before, see package lanaddr; memberlist's own guess is not wanted.
func (s *sockets) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return s.advertise.AsSlice(), s.port(), nil
}

// WriteTo implements memberlist.Transport.
func (s *sockets) WriteTo(b []byte, addr string) (time.Time, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return time.Time{}, fmt.Errorf("send packet: %w", err)
	}
	_, err = s.udp.WriteToUDPAddrPort(b, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()))
	return time.Now(), err
}

// WriteToAddress implements memberlist.NodeAwareTransport.
func (s *sockets) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return s.WriteTo(b, a.Addr)
}

// PacketCh implements memberlist.Transport.
func (s *sockets) PacketCh() <-chan *memberlist.Packet { return s.packets }

// StreamCh implements memberlist.Transport.
func (s *sockets) StreamCh() <-chan net.Conn { return s.streams }

// DialTimeout implements memberlist.Transport. Shutdown ends it early.
func (s *sockets) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: timeout, KeepAliveConfig: keepAlive}
	return d.DialContext(s.ctx, "tcp4", addr)
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (s *sockets) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return s.DialTimeout(a.Addr, timeout)
}

// keepAlive lets the system end a connection whose other host vanished within
// about eleven seconds; our own heartbeat needs three of its periods.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// Shutdown implements memberlist.Transport. Calling it again does nothing.
func (s *sockets) Shutdown() error {
	s.cancel()
	_ = s.tcp.Close()
	_ = s.udp.Close()
	s.wg.Wait()
	return nil
}

func (s *sockets) accept() {
	var pause backoff
	for {
		c, err := s.tcp.AcceptTCP()
		if err != nil {
			if !s.again(err, &pause) {
				return
			}
			continue
		}
		pause = 0
		_ = c.SetKeepAliveConfig(keepAlive)
		select {
		case s.streams <- c:
		case <-s.ctx.Done():
			_ = c.Close()
			return
		}
	}
}

func (s *sockets) receive() {
	var pause backoff
	buf := make([]byte, maxPacket)
	for {
		n, from, err := s.udp.ReadFromUDPAddrPort(buf)
		now := time.Now()
		if err != nil {
			if !s.again(err, &pause) {
				return
			}
			continue
		}
		pause = 0
		if n == 0 {
			continue
		}
		p := &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: net.UDPAddrFromAddrPort(from), Timestamp: now}
		select {
		case s.packets <- p:
		case <-s.ctx.Done():
			return
		}
	}
}

// again waits a little after an error and reports whether to go on.
func (s *sockets) again(err error, pause *backoff) bool {
	if errors.Is(err, net.ErrClosed) {
		return false
	}
	select {
	case <-s.ctx.Done():
		return false
	case <-time.After(pause.next()):
		return true
	}
}

// backoff grows from 5 ms to 1 s.
type backoff time.Duration

func (b *backoff) next() time.Duration {
	*b = min(max(2*(*b), backoff(5*time.Millisecond)), backoff(time.Second))
	return time.Duration(*b)
}
