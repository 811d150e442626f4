package localapi

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// A program of another user holds every connection and every place of a watcher
// that it can get; the operator still reads, changes and watches.
func TestHole14_StrangersDoNotKeepTheOperatorOut(t *testing.T) {
	src := &fakeSource{status: Status{Role: "client"}}
	s := NewServer(src, Options{Bearers: []string{"b"}})
	addr := serveOn(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watching := make(chan struct{}, maxWatchers)
	for range maxWatchers {
		c := client(t, addr, "")
		go func() { _ = c.Watch(ctx, func(Event) error { watching <- struct{}{}; return nil }) }()
	}
	for range maxWatchers {
		<-watching
	}
	operator := client(t, addr, "b")
	kept := make(chan struct{}, 8)
	ended := make(chan error, 1)
	go func() { ended <- operator.Watch(ctx, func(Event) error { kept <- struct{}{}; return nil }) }()
	<-kept
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	for range 3 * maxConns {
		c, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		held = append(held, c)
	}
	_, err := operator.Status(t.Context())
	require.NoError(t, err)
	require.NoError(t, operator.Drain(t.Context()))
	src.hub.Publish(Event{Kind: "note", Text: "still there"})
	<-kept
	cancel()
	require.NoError(t, <-ended)
}

func TestGate_BoundsConnections(t *testing.T) {
	ln, err := Listen("127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{Listener: ln}
	defer g.Close()
	pair := func() net.Conn {
		go func() { _, _ = net.Dial("tcp", ln.Addr().String()) }()
		c, err := g.Accept()
		require.NoError(t, err)
		return c
	}
	first := pair()
	for range maxConns + 20 {
		pair()
	}
	require.Len(t, g.open, maxConns)
	require.NotContains(t, g.open, first, "the oldest went")
	for _, c := range g.open {
		c.kept = true
	}
	here, _ := net.Pipe()
	require.Nil(t, g.admit(here), "those that proved the token stay")
	for len(g.open) > 0 {
		require.NoError(t, g.open[0].Close())
	}
}
