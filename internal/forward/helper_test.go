package forward

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/convertfw/floatrelay/internal/freeport"
)

// slack is what a busy machine may add to anything.
const slack = 20 * time.Second

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a Forwarder that serves, and what it logged.
type rig struct {
	*Forwarder
	t    testing.TB
	logs *observer.ObservedLogs
}

func serving(t testing.TB, opt Options) *rig {
	t.Helper()
	r := prepared(t, opt)
	r.run()
	r.listens()
	return r
}

func prepared(t testing.TB, opt Options) *rig {
	core, logs := observer.New(zapcore.InfoLevel)
	opt.Log = zap.New(core)
	if opt.Port == 0 {
		opt.Port = freePair(t)
	}
	if opt.Hold == 0 {
		opt.Hold = slack
	}
	return &rig{Forwarder: New(opt), t: t, logs: logs}
}

func (r *rig) run() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { r.Run(ctx); close(ended) }()
	r.t.Cleanup(func() {
		stop()
		select {
		case <-ended:
		case <-time.After(slack):
			r.t.Error("the forwarder does not end")
		}
	})
}

// listens waits until both ports are served, and until what it tried them with is
// over: it must not be taken for a program.
func (r *rig) listens() {
	r.t.Helper()
	tried := r.Stats().Accepted
	for i := range ports {
		r.until("it listens", func() bool {
			c, err := net.Dial("tcp", hostPort(Host, r.opt.Port+i))
			return err == nil && c.Close() == nil
		})
		tried++
	}
	r.until("nobody is left", func() bool { return r.Stats().Accepted == tried && r.count.all.Load() == 0 })
}

func (r *rig) until(what string, so func() bool) {
	r.t.Helper()
	require.Eventually(r.t, so, slack, time.Millisecond, what)
}

// program connects as a program of this PC does.
func (r *rig) program(lane int) *net.TCPConn {
	r.t.Helper()
	return connect(r.t, r.opt.Port+lane)
}

func connect(t testing.TB, port int) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", hostPort(Host, port))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(2*slack)))
	return c.(*net.TCPConn)
}

// relay is a listener on both ports of a relay; serve has each connection.
type relay struct {
	Target
	lns []net.Listener
}

func freePair(t testing.TB) int {
	t.Helper()
	p, err := freeport.Pairs(1)
	require.NoError(t, err)
	return p[0]
}

// relayAt opens a relay whose connections greet with name and then echo.
func relayAt(t testing.TB, port int, name string) *relay {
	return relayDoing(t, port, func(c *net.TCPConn) {
		_, _ = io.WriteString(c, name)
		_, _ = io.Copy(c, c)
	})
}

func relayDoing(t testing.TB, port int, serve func(*net.TCPConn)) *relay {
	t.Helper()
	r := &relay{Target: Target{Epoch: 1, Station: "POS-01", Host: Host, Port: port}}
	for i := range ports {
		ln, err := net.Listen("tcp", hostPort(Host, port+i))
		require.NoError(t, err)
		r.lns = append(r.lns, ln)
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				go func() { defer c.Close(); serve(c.(*net.TCPConn)) }()
			}
		}()
	}
	t.Cleanup(r.close)
	return r
}

func (r *relay) close() {
	for _, ln := range r.lns {
		ln.Close()
	}
}

func (r *relay) epoch(n uint64) Target {
	t := r.Target
	t.Epoch = n
	return t
}

// greets demands that c reaches the relay called name and that it echoes.
func greets(t testing.TB, c net.Conn, name string) {
	t.Helper()
	reads(t, c, name)
	_, err := io.WriteString(c, "ping")
	require.NoError(t, err)
	reads(t, c, "ping")
}

func reads(t testing.TB, c net.Conn, want string) {
	t.Helper()
	buf := make([]byte, len(want))
	_, err := io.ReadFull(c, buf)
	require.NoError(t, err)
	require.Equal(t, want, string(buf))
}

// ends demands that c is at its end.
func ends(t testing.TB, c net.Conn) {
	t.Helper()
	_, err := io.ReadAll(c)
	var ne net.Error
	if err != nil {
		require.False(t, ok(err, &ne) && ne.Timeout(), "it goes on")
	}
}

func ok(err error, ne *net.Error) bool {
	e, is := err.(net.Error) //nolint:errorlint // net returns it bare
	*ne = e
	return is
}

// goesOn demands that c still carries.
func goesOn(t testing.TB, c net.Conn) {
	t.Helper()
	_, err := io.WriteString(c, "more")
	require.NoError(t, err)
	reads(t, c, "more")
}
