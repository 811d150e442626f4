package gossip

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

func outsider(t *testing.T, kmsn, token, old string) *Outsider {
	t.Helper()
	o, err := NewOutsider(kmsn, token, old, netip.MustParseAddr("127.0.0.1"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, o.Close()) })
	return o
}

func TestOutsider_KnocksWithoutJoining(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	at := netip.MustParseAddrPort(a.at())
	shows := func(t *testing.T, want Knocked, o *Outsider, who lease.ID) { knockShows(t, want, o, at, who) }
	t.Run("of this site", func(t *testing.T) {
		shows(t, Knocked{TCP: true, Speaks: true, Proved: true, UDP: true}, outsider(t, "4711", "secret", ""), id(1))
	})
	t.Run("nobody named", func(t *testing.T) {
		shows(t, Knocked{TCP: true, Speaks: true, UDP: true}, outsider(t, "4711", "secret", ""), lease.ID{})
	})
	t.Run("another token", func(t *testing.T) {
		shows(t, Knocked{TCP: true, Speaks: true}, outsider(t, "4711", "other", ""), id(1))
	})
	t.Run("another site", func(t *testing.T) {
		shows(t, Knocked{TCP: true, Speaks: true}, outsider(t, "0815", "secret", ""), id(1))
	})
	t.Run("reads our old token only", func(t *testing.T) {
		shows(t, Knocked{TCP: true, Speaks: true, UDP: true}, outsider(t, "4711", "new", "secret"), id(1))
	})
	time.Sleep(3 * quick.GossipInterval)
	require.Empty(t, a.IDs(), "nobody joined")
	require.Len(t, a.Members(), 1)
}

func TestOutsider_NobodyThere(t *testing.T) {
	o := outsider(t, "4711", "secret", "")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := ln.Addr().(*net.TCPAddr).AddrPort()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail\r\n"))
			_ = c.Close()
		}
	}()
	knockShows(t, Knocked{TCP: true}, o, at, id(1)) // a stranger that listens is no member
	require.NoError(t, ln.Close())
	within(t, generous, "it is quick to see that nobody is there", func() bool {
		begin := time.Now()
		knockShows(t, Knocked{Refused: true}, o, at, id(1))
		return time.Since(begin) < pingTries*pingTime+2*time.Second
	})
}

// knockShows knocks until everything is seen that is there, which a busy machine
// may be too slow for at first; what is not there must never be seen.
func knockShows(t *testing.T, want Knocked, o *Outsider, at netip.AddrPort, who lease.ID) {
	t.Helper()
	within(t, generous, "all of it is seen", func() bool {
		k := o.Knock(t.Context(), at, who)
		for _, x := range [][2]bool{
			{k.Refused, want.Refused}, {k.TCP, want.TCP}, {k.Speaks, want.Speaks}, {k.Proved, want.Proved}, {k.UDP, want.UDP},
		} {
			require.False(t, x[0] && !x[1], "%+v, not %+v", k, want)
		}
		k.RTT = 0
		return k == want
	})
}
