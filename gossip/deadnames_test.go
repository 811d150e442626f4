package gossip

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// silentDNS is a name server that takes every question and answers none.
func silentDNS(t *testing.T) *net.Resolver {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { pc.Close() })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

// Fifteen names that nobody answers for stand before the one address: it is
// joined without waiting for them, and all of them cost one time-out.
func TestN5_DeadNameServerHoldsUpNobody(t *testing.T) {
	a := onLoopback(t, config(1), "127.0.0.1")
	cfg := config(2)
	cfg.AdvertiseAddr, cfg.BindAddr, cfg.Tuning = "127.0.0.2", "127.0.0.2", quick
	cfg.Resolver = silentDNS(t)
	var peers []string
	for i := range 15 {
		peers = append(peers, fmt.Sprintf("pos-%02d.example.com", i))
	}
	peers = append(peers, a.at())
	asked := make(chan struct{})
	cfg.Peers = func() []string {
		<-asked
		return peers
	}
	g, err := New(cfg, &recorder{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	begin := time.Now()
	close(asked)
	within(t, generous, "the known address is joined", func() bool { return len(g.IDs()) == 1 })
	require.Less(t, time.Since(begin), resolveTimeout, "before any name has timed out")

	begin = time.Now()
	_, names := g.known(peers)
	require.Len(t, names, 15)
	require.Empty(t, g.lookUp(names))
	require.Less(t, time.Since(begin), 2*resolveTimeout, "side by side")
}
