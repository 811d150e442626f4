package localapi

import (
	"context"
	"net"
	"slices"
	"sync"
)

// maxConns is how many connections may be open at once. When there is one more,
// the oldest of those that have not proved the token is closed for it: whoever
// holds all of them open does not keep the operator out.
const maxConns = 128

// gate is a listener that bounds its connections.
type gate struct {
	net.Listener
	mu   sync.Mutex
	open []*gateConn // oldest first
}

type gateConn struct {
	net.Conn
	gate *gate
	kept bool // it has proved the token; guarded by gate.mu
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if t := g.admit(c); t != nil {
			return t, nil
		}
	}
}

// admit counts a connection, or closes it and returns nil if all others are
// kept.
func (g *gate) admit(c net.Conn) *gateConn {
	t := &gateConn{Conn: c, gate: g}
	g.mu.Lock()
	var drop net.Conn
	if len(g.open) >= maxConns {
		i := slices.IndexFunc(g.open, func(o *gateConn) bool { return !o.kept })
		if i < 0 {
			g.mu.Unlock()
			_ = c.Close()
			return nil
		}
		drop = g.open[i].Conn
		g.open = slices.Delete(g.open, i, i+1)
	}
	g.open = append(g.open, t)
	g.mu.Unlock()
	if drop != nil {
		_ = drop.Close()
	}
	return t
}

// Close implements net.Conn.
func (c *gateConn) Close() error {
	c.gate.mu.Lock()
	if i := slices.Index(c.gate.open, c); i >= 0 {
		c.gate.open = slices.Delete(c.gate.open, i, i+1)
	}
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

type connKey struct{}

// withConn lets a request know its connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// keep saves the connection of a request that has proved the token from being
// closed for another one.
func keep(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*gateConn); ok {
		c.gate.mu.Lock()
		c.kept = true
		c.gate.mu.Unlock()
	}
}
