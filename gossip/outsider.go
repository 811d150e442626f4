package gossip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/convertfw/floatrelay/lease"
)

const (
	// knockTime bounds one connection of an Outsider, pingTime one packet's
	// answer, of which pingTries are sent.
	knockTime = 2 * time.Second
	pingTime  = 500 * time.Millisecond
	pingTries = 3
)

// Knocked is what knocking at one address showed.
type Knocked struct {
	// Refused: the PC is there, but nothing listens on the port.
	Refused bool
	TCP     bool // a connection was made
	Speaks  bool // a floatrelay daemon of some site answers it
	Proved  bool // it is the member named, with our KMSN and RELAY_TOKEN
	UDP     bool // a packet came and went: same KMSN and RELAY_TOKEN
	RTT     time.Duration
}

// Outsider finds out how members are reached without being one: for a PC whose
// daemon does not run. Nobody's member table notices it.
type Outsider struct {
	kmsn string
	self lease.ID
	keys *keys
	ml   *memberlist.Memberlist // on a free port of its own
}

// NewOutsider opens a free UDP and TCP port. advertise is where answers are
// sent to.
func NewOutsider(kmsn, token, oldToken string, advertise netip.Addr) (*Outsider, error) {
	k, err := newKeys(token, oldToken, kmsn)
	if err != nil {
		return nil, err
	}
	k.use(&k.fresh)
	s, err := listen(netip.Addr{}, advertise, 0)
	if err != nil {
		return nil, err
	}
	o := &Outsider{kmsn: kmsn, keys: k, self: lease.ID{Node: "outsider", Run: "000000000000"}}
	c := memberlist.DefaultLANConfig()
	c.Name = o.self.String()
	c.Transport, c.Label, c.Keyring = s, siteLabel(kmsn), k.ring
	// It must not become a member, nor know any: memberlist adds news to every
	// packet as far as there is room, its own arrival first.
	c.UDPBufferSize = 1
	c.Alive = onlySelf(c.Name)
	c.AdvertiseAddr, c.AdvertisePort, c.BindPort = advertise.String(), s.port(), s.port()
	c.ProbeTimeout, c.ProbeInterval = pingTime, 2*pingTime
	c.Logger, c.LogOutput = log.New(io.Discard, "", 0), nil
	if o.ml, err = memberlist.Create(c); err != nil {
		_ = s.Shutdown()
		return nil, fmt.Errorf("open a port to look for members: %w", err)
	}
	return o, nil
}

// onlySelf ignores the members that answers tell of.
type onlySelf string

// NotifyAlive implements memberlist.AliveDelegate.
func (s onlySelf) NotifyAlive(n *memberlist.Node) error {
	if n.Name != string(s) {
		return errors.New("not wanted")
	}
	return nil
}

// Close frees the ports.
func (o *Outsider) Close() error { return o.ml.Shutdown() }

// Knock tries one address by packet and over a connection. The member there is
// named if it is known; without, nothing is proved over the connection.
func (o *Outsider) Knock(ctx context.Context, addr netip.AddrPort, member lease.ID) Knocked {
	var out Knocked
	udp := make(chan struct{})
	var rtt time.Duration
	var answered bool
	go func() {
		defer close(udp)
		rtt, answered = o.ping(ctx, addr)
	}()
	o.connect(ctx, addr, member, &out)
	<-udp
	out.RTT, out.UDP = rtt, answered
	return out
}

// ping sends packets until one is answered. Names are not asked for: a PC that
// has restarted meanwhile has another one.
func (o *Outsider) ping(ctx context.Context, addr netip.AddrPort) (rtt time.Duration, ok bool) {
	for range pingTries {
		if ctx.Err() != nil {
			break
		}
		if rtt, err := o.ml.Ping("", net.UDPAddrFromAddrPort(addr)); err == nil {
			return max(rtt, time.Nanosecond), true
		}
		o.keys.toggle() // during a rotation it may read the old token only
	}
	return 0, false
}

func (o *Outsider) connect(ctx context.Context, addr netip.AddrPort, member lease.ID, out *Knocked) {
	ctx, cancel := context.WithTimeout(ctx, knockTime)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp4", addr.String())
	if err != nil {
		out.Refused = refused(err)
		return
	}
	defer c.Close()
	out.TCP = true
	_ = c.SetDeadline(time.Now().Add(knockTime))
	if member == (lease.ID{}) {
		member = o.self // refused for sure, but not before it has spoken
	}
	seen := &counter{ReadWriter: c}
	err = watchHello(seen, o.keys.fresh, o.kmsn, member, o.self)
	out.Speaks, out.Proved = seen.read >= nonceLen, err == nil
}

// refused reports whether the other host said that nothing listens there.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "refused")
}

// counter counts what was read.
type counter struct {
	io.ReadWriter
	read int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.ReadWriter.Read(p)
	c.read += n
	return n, err
}
