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
	both := func(o *Outsider, who lease.ID) Knocked {
		k := o.Knock(t.Context(), at, who)
		k.RTT = 0
		return k
	}
	t.Run("of this site", func(t *testing.T) {
		require.Equal(t, Knocked{TCP: true, Speaks: true, Proved: true, UDP: true}, both(outsider(t, "4711", "secret", ""), id(1)))
	})
	t.Run("nobody named", func(t *testing.T) {
		require.Equal(t, Knocked{TCP: true, Speaks: true, UDP: true}, both(outsider(t, "4711", "secret", ""), lease.ID{}))
	})
	t.Run("another token", func(t *testing.T) {
		require.Equal(t, Knocked{TCP: true, Speaks: true}, both(outsider(t, "4711", "other", ""), id(1)))
	})
	t.Run("another site", func(t *testing.T) {
		require.Equal(t, Knocked{TCP: true, Speaks: true}, both(outsider(t, "0815", "secret", ""), id(1)))
	})
	t.Run("reads our old token only", func(t *testing.T) {
		require.True(t, both(outsider(t, "4711", "new", "secret"), id(1)).UDP)
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
	got := o.Knock(t.Context(), at, id(1))
	require.Equal(t, Knocked{TCP: true}, got, "a stranger that listens is no member")
	require.NoError(t, ln.Close())
	begin := time.Now()
	require.Equal(t, Knocked{Refused: true}, o.Knock(t.Context(), at, id(1)))
	require.Less(t, time.Since(begin), pingTries*pingTime+2*time.Second)
}
