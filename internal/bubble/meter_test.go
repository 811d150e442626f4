package bubble

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
)

// traffic is what one host sent and was sent: packets and their payload, and
// the bytes of its connections.
type traffic struct {
	Packets, Bytes, Stream float64
}

func (t traffic) plus(o traffic) traffic {
	return traffic{t.Packets + o.Packets, t.Bytes + o.Bytes, t.Stream + o.Stream}
}

func (t traffic) times(f float64) traffic {
	return traffic{t.Packets * f, t.Bytes * f, t.Stream * f}
}

// meter counts both directions of a host, lost packets included.
type meter struct{ packets, bytes, stream atomic.Uint64 }

func (m *meter) packet(n int) {
	m.packets.Add(1)
	m.bytes.Add(uint64(n))
}

func (m *meter) read() traffic {
	return traffic{float64(m.packets.Load()), float64(m.bytes.Load()), float64(m.stream.Load())}
}

// port is a memnet.Port that tells the meters of both ends.
type port struct {
	*memnet.Port
	own   *meter
	meter func(netip.Addr) *meter
}

func (p *port) other(addr string) *meter {
	to, _ := netip.ParseAddrPort(addr)
	return p.meter(to.Addr())
}

func (p *port) WriteTo(b []byte, addr string) (time.Time, error) {
	p.own.packet(len(b))
	p.other(addr).packet(len(b))
	return p.Port.WriteTo(b, addr)
}

func (p *port) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return p.WriteTo(b, a.Addr)
}

func (p *port) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	c, err := p.Port.DialTimeout(addr, timeout)
	if err != nil {
		return nil, err
	}
	return &meteredConn{c, p.own, p.other(addr)}, nil
}

func (p *port) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	return p.DialTimeout(a.Addr, timeout)
}

// meteredConn is the dialling end of a connection; it sees both directions.
type meteredConn struct {
	net.Conn
	own, other *meter
}

func (c *meteredConn) count(n int, err error) (int, error) {
	c.own.stream.Add(uint64(n))
	c.other.stream.Add(uint64(n))
	return n, err
}

func (c *meteredConn) Read(b []byte) (int, error)  { return c.count(c.Conn.Read(b)) }
func (c *meteredConn) Write(b []byte) (int, error) { return c.count(c.Conn.Write(b)) }
