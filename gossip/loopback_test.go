package gossip

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// generous bounds every wait on real sockets for something that must happen.
const generous = 30 * time.Second

// quick is a tuning for tests that cannot use virtual time. It must stand a
// machine that is busy with other things: news travel fast, but nobody is given
// up, or hung up on, for being slow.
var quick = Tuning{
	ProbeInterval: 500 * time.Millisecond, ProbeTimeout: 300 * time.Millisecond,
	GossipInterval: 20 * time.Millisecond, RejoinAlone: 50 * time.Millisecond,
	Rejoin: 300 * time.Millisecond, StreamTimeout: generous / 3,
	Heartbeat: generous, MetaEvery: 20 * time.Millisecond,
}

// onLoopback runs a member on real sockets.
func onLoopback(t *testing.T, cfg Config, addr string, peers ...*node) *node {
	t.Helper()
	cfg.AdvertiseAddr, cfg.BindAddr, cfg.Tuning = addr, addr, quick
	peers = slices.Clone(peers) // the caller's may change while the member looks for them
	cfg.Peers = func() []string {
		var out []string
		for _, p := range peers {
			out = append(out, p.at())
		}
		return out
	}
	n := &node{rec: &recorder{}}
	g, err := New(cfg, n.rec)
	require.NoError(t, err)
	n.Gossip = g
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return n
}

func (n *node) at() string { return n.Members()[0].Addr.String() }

func TestLoopback_ThreeMembersBeatsVouchesAndAWatch(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	b := onLoopback(t, config(2), "127.0.0.2", a)
	c := onLoopback(t, config(3), "127.0.0.3", a)
	see(t, generous, a, b, c)
	require.NotZero(t, a.Port())
	b.Watch(id(1))
	c.Watch(id(1))
	within(t, generous, "the leader is watched", func() bool { return a.Watchers() == 2 })

	body := make([]byte, lease.MaxBody)
	within(t, generous, "beats and vouches", func() bool {
		_ = a.SendBeat([]lease.ID{id(2), id(3)}, 1, body) // for a moment a member may be taken for dead
		_ = b.SendVouch(id(1), id(1).Run, 1)
		return len(b.rec.gotBeats()) > 0 && len(c.rec.gotBeats()) > 0 && len(a.rec.gotVouches()) > 0
	})
	within(t, generous, "head", func() bool { return a.SendHead(id(2), body, true) == nil })
	within(t, generous, "head arrives", func() bool { return len(b.rec.gotHeads()) > 0 })
	require.Empty(t, b.rec.leadersGone())

	require.NoError(t, a.Close()) // the kernel does the same for a killed process
	took := within(t, generous, "the leader is gone", func() bool {
		return len(b.rec.leadersGone()) == 1 && len(c.rec.leadersGone()) == 1
	})
	t.Logf("leader gone after %v", took)
	see(t, generous, b, c)
}

// A13 over real sockets: three members, one token after the other.
func TestLoopback_RollingTokenChange(t *testing.T) {
	addrs := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}
	nodes := make([]*node, 3)
	for i := range nodes {
		nodes[i] = onLoopback(t, rotating(i, "old", "old", ""), addrs[i], nodes[:i]...)
	}
	see(t, generous, nodes...)
	for i := range nodes {
		require.NoError(t, nodes[i].Leave(generous))
		require.NoError(t, nodes[i].Close())
		cfg := rotating(i, "new", "new", "old")
		nodes[i] = onLoopback(t, cfg, addrs[i], nodes[(i+1)%3], nodes[(i+2)%3])
		see(t, generous, nodes...)
		require.Equal(t, i == 2, eventuallyNew(nodes[i], i == 2))
	}
	for _, n := range nodes {
		within(t, generous, "the new key is used", n.UsesNewToken)
	}
	see(t, generous, nodes...)
}

// eventuallyNew waits for the change-over only if it is expected.
func eventuallyNew(n *node, want bool) bool {
	for end := time.Now().Add(generous); want && !n.UsesNewToken() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	return n.UsesNewToken()
}

func TestLoopback_WrongTokenIsNamed(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	odd := config(2)
	odd.Token = "typo"
	b := onLoopback(t, odd, "127.0.0.2", a)
	within(t, generous, "both know", func() bool {
		here, there := a.Strangers(), b.Strangers()
		return len(here) > 0 && here[0].Kind == WrongToken && len(there) > 0 && there[0].Addr == "127.0.0.1"
	})
	require.Empty(t, a.IDs())
}

// Strangers on the TCP port: garbage, silence, floods. Members are not disturbed.
func TestLoopback_HostileConnections(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	b := onLoopback(t, config(2), "127.0.0.2", a)
	see(t, generous, a, b)
	b.Watch(id(1))
	within(t, generous, "watched", func() bool { return a.Watchers() == 1 })

	var conns []net.Conn
	for i := range 2 * maxStreamsPerIP {
		c, err := net.Dial("tcp4", a.at())
		require.NoError(t, err)
		conns = append(conns, c)
		switch i % 4 {
		case 1:
			_, _ = c.Write([]byte{watchMagic})
		case 2:
			_, _ = c.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		case 3:
			_, _ = c.Write([]byte{watchMagic, watchVersion, 3, 1, 2, 3})
		}
	}
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for _, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(generous))
		_, err := io.Copy(io.Discard, c)
		var ne net.Error
		if errors.As(err, &ne) {
			require.False(t, ne.Timeout(), "every stranger is hung up on")
		}
	}
	require.Equal(t, 1, a.Watchers())
	require.Empty(t, b.rec.leadersGone())
	see(t, generous, a, b)
}

func TestLoopback_GarbagePacketsAreIgnored(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	b := onLoopback(t, config(2), "127.0.0.2", a)
	see(t, generous, a, b)
	c, err := net.Dial("udp4", a.at())
	require.NoError(t, err)
	defer c.Close()
	for _, p := range [][]byte{{}, {0}, {244}, {244, 16}, append([]byte{244, 16}, siteLabel("4711")...),
		append(append([]byte{244, 16}, siteLabel("4711")...), make([]byte, 60)...), make([]byte, 1400), make([]byte, 60000)} {
		_, err := c.Write(p)
		require.NoError(t, err)
	}
	within(t, generous, "it is counted", func() bool { return len(a.Strangers()) > 0 })
	require.NoError(t, b.SendBeat([]lease.ID{id(1)}, 1, []byte("x")))
	within(t, generous, "a beat arrives", func() bool { return len(a.rec.gotBeats()) > 0 })
}

func TestLoopback_CloseIsIdempotentAndConcurrent(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	done := make(chan error, 4)
	for i := range 4 {
		go func() {
			if i%2 == 0 {
				done <- a.Leave(generous)
			} else {
				done <- a.Close()
			}
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
}

func TestLoopback_PortIsFreeAfterClose(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	cfg := config(1)
	cfg.Port = a.Port()
	require.NoError(t, a.Close())
	b := onLoopback(t, cfg, "127.0.0.1")
	require.Equal(t, cfg.Port, b.Port())
}

func TestJoin_ReportsWhatFailed(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	n, err := a.Join([]string{"127.0.0.1:1", "not an address:x:y", ""})
	require.Zero(t, n)
	require.ErrorContains(t, err, "join 127.0.0.1:1")
	b := onLoopback(t, config(2), "127.0.0.2")
	n, err = a.Join([]string{b.at(), "127.0.0.1:1"})
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
