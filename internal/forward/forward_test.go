package forward

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestForwarder_LeadsEachPortToTheRelaysOwn(t *testing.T) {
	r := serving(t, Options{})
	first := relayDoing(t, freePair(t), func(c *net.TCPConn) {
		_, port, _ := net.SplitHostPort(c.LocalAddr().String())
		_, _ = io.WriteString(c, port)
	})
	r.Follow(first.Target)
	for i := range ports {
		c := r.program(i)
		got, err := io.ReadAll(c)
		require.NoError(t, err)
		_, want, _ := net.SplitHostPort(hostPort(Host, first.Port+i))
		require.Equal(t, want, string(got))
	}
}

// While nobody leads a program is held, not refused, and what it sent meanwhile
// arrives.
func TestForwarder_HoldsWhileNobodyLeads(t *testing.T) {
	r := serving(t, Options{})
	site := relayAt(t, freePair(t), "site")
	c := r.program(0)
	_, err := io.WriteString(c, "early")
	require.NoError(t, err)
	r.until("it is held", func() bool { return r.Stats().Held == 1 })
	require.Empty(t, r.Stats().To, "nobody leads")
	r.Follow(site.Target)
	reads(t, c, "site"+"early")
	goesOn(t, c)
	require.EqualValues(t, 0, r.Stats().Held)
	require.EqualValues(t, 1, r.Stats().Open)
	require.Contains(t, r.Stats().To, "POS-01 at 127.0.0.1:")
}

// More than is read ahead arrives too, in order.
func TestForwarder_HoldsAProgramThatSendsMuch(t *testing.T) {
	r := serving(t, Options{})
	got := make(chan []byte, 1)
	site := relayDoing(t, freePair(t), func(c *net.TCPConn) {
		b, _ := io.ReadAll(c)
		got <- b
	})
	c := r.program(0)
	sent := noise(50 * aheadMax)
	_, err := c.Write(sent)
	require.NoError(t, err)
	r.until("it is held", func() bool { return r.Stats().Held == 1 })
	r.Follow(site.Target)
	r.until("it is carried", func() bool { return r.Stats().Open == 1 })
	require.NoError(t, c.CloseWrite())
	require.Equal(t, sent, <-got)
}

// A relay that leads but is still starting is waited for.
func TestForwarder_HoldsWhileTheRelayStarts(t *testing.T) {
	r := serving(t, Options{})
	port := freePair(t)
	r.Follow(Target{Epoch: 1, Station: "POS-01", Host: Host, Port: port})
	c := r.program(0)
	r.until("it is held", func() bool { return r.Stats().Held == 1 })
	time.Sleep(3 * dialEvery)
	relayAt(t, port, "site")
	greets(t, c, "site")
}

func TestForwarder_LetsGoAfterTheHold(t *testing.T) {
	r := serving(t, Options{Hold: 100 * time.Millisecond})
	from := time.Now()
	ends(t, r.program(0))
	require.GreaterOrEqual(t, time.Since(from), 100*time.Millisecond)
	r.until("it is counted", func() bool { return r.Stats().Late == 1 })
	require.Equal(t, 1, r.logs.FilterMessageSnippet("no relay was reached in time").Len())
}

// A program that gave up while it was held never reaches the relay: its next
// attempt would meet its own ghost there.
func TestForwarder_ForgetsAProgramThatGaveUp(t *testing.T) {
	r := serving(t, Options{})
	site := relayAt(t, freePair(t), "site")
	was := r.Stats().GaveUp
	c := r.program(0)
	_, err := io.WriteString(c, "hello")
	require.NoError(t, err)
	r.until("it is held", func() bool { return r.Stats().Held == 1 })
	require.NoError(t, c.Close())
	r.until("it is let go", func() bool { return r.Stats().GaveUp == was+1 && r.Stats().Held == 0 })
	r.Follow(site.Target)
	greets(t, r.program(0), "site")
	require.EqualValues(t, 1, r.Stats().Open)
}

// What moves the relay ends its connections at once; what does not move it ends
// none.
func TestForwarder_EndsConnectionsWhenTheRelayMoves(t *testing.T) {
	site, other := relayAt(t, freePair(t), "one"), relayAt(t, freePair(t), "two")
	for what, next := range map[string]Target{
		"another PC leads":                   other.epoch(2),
		"the same PC won the lease again":    site.epoch(2),
		"the leading PC has another address": {Epoch: 1, Host: Host, Port: other.Port},
		"nobody leads":                       {},
	} {
		t.Run(what, func(t *testing.T) {
			r := serving(t, Options{})
			r.Follow(site.Target)
			a, b := r.program(0), r.program(1)
			greets(t, a, "one")
			greets(t, b, "one")
			named := site.Target
			named.Station = "another name"
			r.Follow(named)
			goesOn(t, a)
			r.Follow(next)
			ends(t, a)
			ends(t, b)
			r.until("nothing is left", func() bool { return r.Stats().Open == 0 })
		})
	}
}

// An attempt to reach a PC that does not answer is dropped when another leads.
func TestForwarder_DropsAnAttemptWhenTheRelayMoves(t *testing.T) {
	r := serving(t, Options{})
	r.Follow(Target{Epoch: 1, Station: "POS-01", Host: "192.0.2.1", Port: 9})
	c := r.program(0)
	r.until("it is held", func() bool { return r.Stats().Held == 1 })
	site := relayAt(t, freePair(t), "site")
	from := time.Now()
	r.Follow(site.epoch(2))
	greets(t, c, "site")
	t.Logf("reached %v after the news", time.Since(from))
}

func TestForwarder_RefusesTooMany(t *testing.T) {
	r := serving(t, Options{Max: 2})
	site := relayAt(t, freePair(t), "site")
	r.Follow(site.Target)
	a, b := r.program(0), r.program(1)
	greets(t, a, "site")
	greets(t, b, "site")
	ends(t, r.program(0))
	require.EqualValues(t, 1, r.Stats().Full)
	a.Close()
	r.until("there is room", func() bool { return r.count.all.Load() == 1 })
	greets(t, r.program(0), "site")
}

// A port that another program holds is said, and had as soon as it is free.
func TestForwarder_WaitsForAPortThatIsHeld(t *testing.T) {
	port := freePair(t)
	stranger, err := net.Listen("tcp", hostPort(Host, port+1))
	require.NoError(t, err)
	defer stranger.Close()
	r := prepared(t, Options{Port: port})
	r.retry = 10 * time.Millisecond
	r.run()
	site := relayAt(t, freePair(t), "site")
	r.Follow(site.Target)
	r.until("it is said", func() bool { return r.Stats().Problem != "" })
	require.Contains(t, r.Stats().Problem, "choose another FORWARD_PORT")
	r.until("the other port is served", func() bool { c, err := net.Dial("tcp", hostPort(Host, port)); return err == nil && c.Close() == nil })
	r.until("that is over", func() bool { return r.Stats().Accepted == 1 && r.count.all.Load() == 0 })
	stranger.Close()
	r.until("it is over", func() bool { return r.Stats().Problem == "" })
	r.listens()
	greets(t, r.program(1), "site")
	require.Equal(t, 1, r.logs.FilterMessageSnippet("cannot be had").Len(), "said once")
}
