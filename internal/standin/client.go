package standin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Conn is one connection of a client to a stand-in.
type Conn struct {
	net.Conn
	Hello Hello // the relay's answer
}

// Dial connects to address (host:port), says hello and returns once the relay
// answered. ctx bounds the whole of it.
func Dial(ctx context.Context, address, kmsn, station string) (*Conn, error) {
	return dial(ctx, address, Hello{KMSN: kmsn, Station: station})
}

// Ping asks the relay at address for its hello and leaves.
func Ping(ctx context.Context, address, kmsn, station string) (Hello, error) {
	c, err := dial(ctx, address, Hello{KMSN: kmsn, Station: station, Ping: true})
	if err != nil {
		return Hello{}, err
	}
	c.Close()
	return c.Hello, nil
}

func dial(ctx context.Context, address string, hello Hello) (*Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("dial relay: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	answer, err := Hello{}, writeHello(nc, hello)
	if err == nil {
		answer, err = readHello(nc)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("greet relay %s: %w", address, err)
	}
	return &Conn{Conn: nc, Hello: answer}, nil
}

// ErrNotConnected is returned by Client.Send while there is no relay.
var ErrNotConnected = errors.New("no relay connected")

// Client stays connected to whatever relay Find names, and reconnects by
// itself. Set the fields before Run; the callbacks run on Run's goroutine.
type Client struct {
	KMSN, Station string
	// Find returns the address (host:port) of the relay now.
	Find func(context.Context) (string, error)
	// Retry is the pause between attempts; zero means 50 ms.
	Retry time.Duration
	// OnConnect is called with the relay's hello after each connect, OnFrame
	// with each frame, OnLost when a connection ended. Each may be nil.
	OnConnect func(Hello)
	OnFrame   func([]byte)
	OnLost    func(error)

	mu   sync.Mutex
	conn *Conn
}

// Run connects and receives until ctx ends.
func (c *Client) Run(ctx context.Context) {
	retry := c.Retry
	if retry <= 0 {
		retry = 50 * time.Millisecond
	}
	for ctx.Err() == nil {
		if err := c.session(ctx); err != nil && c.OnLost != nil {
			c.OnLost(err)
		}
		sleep(ctx, retry)
	}
}

// session is one connection from dial to loss. It returns nil if there never
// was one.
func (c *Client) session(ctx context.Context) error {
	dctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	address, err := c.Find(dctx)
	if err != nil {
		return nil
	}
	conn, err := Dial(dctx, address, c.KMSN, c.Station)
	if err != nil {
		return nil
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	c.set(conn)
	defer c.set(nil)
	if c.OnConnect != nil {
		c.OnConnect(conn.Hello)
	}
	for {
		body, err := ReadFrame(conn)
		if err != nil {
			return err
		}
		if c.OnFrame != nil {
			c.OnFrame(body)
		}
	}
}

func (c *Client) set(conn *Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
}

// Send sends one frame of JSON, or fails with ErrNotConnected.
func (c *Client) Send(body []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return ErrNotConnected
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second))
	return WriteFrame(c.conn, body)
}
