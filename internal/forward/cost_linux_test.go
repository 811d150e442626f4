package forward

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// costEnv makes the measurements demand what the documents promise. Without it
// they are taken with small numbers, and only printed: other tests run beside.
const costEnv = "FORWARD_COST"

// echoEnv makes this test binary the relay of a measurement: its memory and its
// work must not count as the forwarder's.
const echoEnv = "FORWARD_TEST_ECHO"

// lanEnv names such a relay on the far side of a network (host:port).
const lanEnv = "FORWARD_COST_RELAY"

func init() {
	port := os.Getenv(echoEnv)
	if port == "" {
		return
	}
	first, err := strconv.Atoi(port)
	if err != nil {
		os.Exit(1)
	}
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }() // ends with its parent
	go answer(first, func(c net.Conn) { _, _ = io.Copy(c, c) })
	go answer(first+1, func(c net.Conn) {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 256<<10))
		_, _ = io.WriteString(c, ".")
	})
	for i := range ports { // both listen
		for {
			if c, err := net.Dial("tcp", hostPort(Host, first+i)); err == nil {
				c.Close()
				break
			}
		}
	}
	fmt.Println("ready")
	select {}
}

func answer(port int, serve func(net.Conn)) {
	ln, err := net.Listen("tcp", hostPort("", port))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for {
		c, err := ln.Accept()
		if err != nil {
			os.Exit(1)
		}
		go func() { serve(c); c.Close() }()
	}
}

// relayOutside is an echo, and on the next port a sink, in a process of its own.
func relayOutside(t *testing.T) Target {
	t.Helper()
	if addr := os.Getenv(lanEnv); addr != "" {
		host, digits, err := net.SplitHostPort(addr)
		require.NoError(t, err)
		port, err := strconv.Atoi(digits)
		require.NoError(t, err)
		return Target{Epoch: 1, Station: "POS-01", Host: host, Port: port}
	}
	port := freePair(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), echoEnv+"="+strconv.Itoa(port))
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	word := make([]byte, 6)
	_, err = io.ReadFull(out, word)
	require.NoError(t, err)
	require.Equal(t, "ready\n", string(word))
	return Target{Epoch: 1, Station: "POS-01", Host: Host, Port: port}
}

func measured(t *testing.T) (r *rig, direct Target) {
	t.Helper()
	r = serving(t, Options{})
	target := relayOutside(t)
	r.Follow(target)
	return r, target
}

// TestCost_Latency compares the round trip of a small message, each in turn.
func TestCost_Latency(t *testing.T) {
	r, direct := measured(t)
	n := 2000
	a, b := dialTo(t, direct, 0), r.program(0)
	var through, without []time.Duration
	for range n {
		without = append(without, roundTrip(t, a))
		through = append(through, roundTrip(t, b))
	}
	more := median(through) - median(without)
	t.Logf("latency: %v direct, %v through the forwarder, %v more (medians of %d)", median(without), median(through), more, n)
	if os.Getenv(costEnv) != "" {
		require.LessOrEqual(t, more, 200*time.Microsecond)
	}
}

func roundTrip(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	msg := bytes.Repeat([]byte("x"), 200)
	from := time.Now()
	_, err := c.Write(msg)
	require.NoError(t, err)
	_, err = io.ReadFull(c, msg)
	require.NoError(t, err)
	return time.Since(from)
}

func median(d []time.Duration) time.Duration {
	s := slices.Sorted(slices.Values(d))
	return s[len(s)/2]
}

// TestCost_Memory opens many connections and looks at what the process needs for
// them, its own ends of the programs' connections included.
func TestCost_Memory(t *testing.T) {
	r, _ := measured(t)
	n := 200
	if os.Getenv(costEnv) != "" {
		n = 1000
	}
	before := resident(t)
	for range n {
		c := r.program(0)
		roundTrip(t, c)
	}
	need := resident(t) - before
	t.Logf("memory: %d connections need %.1f MB (resident), %.1f KB each", n, float64(need)/1e6, float64(need)/1e3/float64(n))
	require.EqualValues(t, n, r.Stats().Open)
	if os.Getenv(costEnv) != "" {
		require.LessOrEqual(t, need, int64(50e6))
	}
}

// resident is the memory of this process after a collection.
func resident(t *testing.T) int64 {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	b, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}

// TestCost_Throughput compares a program that goes through the forwarder with one
// that does not. Over loopback nothing but the machine's cores is the limit, and the
// forwarder's work comes on top of that of both ends: that is only printed. Where a
// network is the limit (.ci/forward-cost) nine tenths are demanded.
func TestCost_Throughput(t *testing.T) {
	r, direct := measured(t)
	size := int64(20 << 20)
	if os.Getenv(costEnv) != "" {
		size = 1 << 30
	}
	lan := os.Getenv(lanEnv) != ""
	if lan {
		size = 200 << 20
	}
	for _, way := range []struct {
		what string
		lane int
		send func(*testing.T, *net.TCPConn, int64) time.Duration
	}{{"there and back", 0, stream}, {"one way", 1, upload}} {
		var through, without []time.Duration
		for range 5 {
			without = append(without, way.send(t, dialTo(t, direct, way.lane), size))
			through = append(through, way.send(t, r.program(way.lane), size))
		}
		rate := func(d time.Duration) float64 { return float64(size) / 1e6 / d.Seconds() }
		share := median(without).Seconds() / median(through).Seconds()
		t.Logf("throughput %s: %.0f MB/s direct, %.0f MB/s through the forwarder, %.0f %%", way.what, rate(median(without)), rate(median(through)), 100*share)
		if lan {
			require.GreaterOrEqual(t, share, 0.9, way.what)
		}
	}
}

// stream sends size bytes to the echo while it reads them back.
func stream(t *testing.T, c *net.TCPConn, size int64) time.Duration {
	t.Helper()
	from := time.Now()
	go write(c, size)
	got, err := io.CopyN(io.Discard, c, size)
	require.NoError(t, err)
	require.Equal(t, size, got)
	return time.Since(from)
}

// upload sends size bytes to the sink, which answers when it has read all.
func upload(t *testing.T, c *net.TCPConn, size int64) time.Duration {
	t.Helper()
	from := time.Now()
	write(c, size)
	require.NoError(t, c.CloseWrite())
	reads(t, c, ".")
	return time.Since(from)
}

func write(c *net.TCPConn, size int64) {
	buf := make([]byte, 256<<10)
	for left := size; left > 0; {
		n, err := c.Write(buf[:min(left, int64(len(buf)))])
		if err != nil {
			return
		}
		left -= int64(n)
	}
}

func dialTo(t *testing.T, to Target, lane int) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", hostPort(to.Host, to.Port+lane))
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(3*slack)))
	return c.(*net.TCPConn)
}
