package forward

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func noise(n int) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(b)
	return b
}

// carrying is a program and the relay's end of its connection.
func carrying(t *testing.T, opt Options) (r *rig, program, relay *net.TCPConn) {
	t.Helper()
	return joined(t, prepared(t, opt))
}

// looking is carrying with a look at the connection every tick.
func looking(t *testing.T, tick time.Duration) (r *rig, program, relay *net.TCPConn) {
	t.Helper()
	r = prepared(t, Options{})
	r.tick = tick
	return joined(t, r)
}

func joined(t *testing.T, r *rig) (_ *rig, program, relay *net.TCPConn) {
	t.Helper()
	got := make(chan *net.TCPConn, 1)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	site := relayDoing(t, freePair(t), func(c *net.TCPConn) { got <- c; <-over })
	r.run()
	r.listens()
	r.Follow(site.Target)
	program = r.program(0)
	relay = <-got
	require.NoError(t, relay.SetDeadline(time.Now().Add(2*slack)))
	return r, program, relay
}

// A side that has said all is told from one that is gone, either way round. The
// program does so before the relay was reached.
func TestCarry_HalfClose(t *testing.T) {
	t.Run("by the program", func(t *testing.T) {
		_, program, relay := carrying(t, Options{})
		_, err := io.WriteString(program, "question")
		require.NoError(t, err)
		require.NoError(t, program.CloseWrite())
		all, err := io.ReadAll(relay)
		require.NoError(t, err)
		require.Equal(t, "question", string(all))
		_, err = io.WriteString(relay, "answer")
		require.NoError(t, err)
		reads(t, program, "answer")
	})
	t.Run("by the program, at once", func(t *testing.T) {
		r := serving(t, Options{})
		r.Follow(relayAt(t, freePair(t), "site").Target)
		for range 20 {
			c := r.program(0)
			_, err := io.WriteString(c, "x")
			require.NoError(t, err)
			require.NoError(t, c.CloseWrite())
			all, err := io.ReadAll(c)
			require.NoError(t, err)
			require.Equal(t, "sitex", string(all))
		}
	})
	t.Run("by the relay", func(t *testing.T) {
		_, program, relay := carrying(t, Options{})
		require.NoError(t, relay.CloseWrite())
		all, err := io.ReadAll(program)
		require.NoError(t, err)
		require.Empty(t, all)
		_, err = io.WriteString(program, "still here")
		require.NoError(t, err)
		reads(t, relay, "still here")
	})
}

// Not a byte is lost or changed, also where the look at a silent connection
// comes every few milliseconds.
func TestCarry_EveryByte(t *testing.T) {
	r, program, relay := looking(t, 2*time.Millisecond)
	sent := noise(3*chunk + 12345)
	for _, way := range [][2]*net.TCPConn{{program, relay}, {relay, program}} {
		go func() {
			for part := range chunks(sent, 1<<20) {
				_, _ = way[0].Write(part)
				time.Sleep(5 * time.Millisecond)
			}
			_ = way[0].CloseWrite()
		}()
	}
	for _, end := range []*net.TCPConn{relay, program} {
		got, err := io.ReadAll(end)
		require.NoError(t, err)
		require.True(t, bytes.Equal(sent, got), "%d bytes of %d", len(got), len(sent))
	}
	r.until("all is counted", func() bool { s := r.Stats(); return s.Up == uint64(len(sent)) && s.Down == uint64(len(sent)) })
}

func chunks(b []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			k := min(n, len(b))
			if !yield(b[:k]) {
				return
			}
			b = b[k:]
		}
	}
}

// Looks that pass while bytes trickle lose none.
func TestCarry_LooksLoseNothing(t *testing.T) {
	_, program, relay := looking(t, time.Millisecond)
	sent := noise(200)
	go func() {
		for i := range sent {
			_, _ = program.Write(sent[i : i+1])
			time.Sleep(time.Millisecond)
		}
		_ = program.CloseWrite()
	}()
	got, err := io.ReadAll(relay)
	require.NoError(t, err)
	require.Equal(t, sent, got)
}

// A relay that does not read stops the program, as without a forwarder; nothing
// piles up here.
func TestCarry_BackPressure(t *testing.T) {
	_, program, relay := carrying(t, Options{})
	var written atomic.Int64
	sent := noise(64 << 20)
	go func() {
		for part := range chunks(sent, 64<<10) {
			n, err := program.Write(part)
			written.Add(int64(n))
			if err != nil {
				return
			}
		}
		_ = program.CloseWrite()
	}()
	last := int64(-1)
	require.Eventually(t, func() bool {
		now := written.Load()
		still := now == last && now > 0
		last = now
		return still
	}, slack, 300*time.Millisecond, "it is never stopped")
	require.Less(t, last, int64(len(sent)))
	got, err := io.ReadAll(relay)
	require.NoError(t, err)
	require.True(t, bytes.Equal(sent, got))
}

func TestCarry_Idle(t *testing.T) {
	const idle = time.Second
	t.Run("silence ends it", func(t *testing.T) {
		_, program, relay := carrying(t, Options{Idle: idle})
		from := time.Now()
		ends(t, program)
		ends(t, relay)
		require.GreaterOrEqual(t, time.Since(from), idle-50*time.Millisecond)
	})
	t.Run("bytes one way keep it", func(t *testing.T) {
		_, program, relay := carrying(t, Options{Idle: idle})
		for range 15 {
			time.Sleep(idle / 10)
			_, err := io.WriteString(relay, "x")
			require.NoError(t, err)
			reads(t, program, "x")
		}
	})
	t.Run("without FORWARD_IDLE only where one side has ended", func(t *testing.T) {
		c := &carriage{}
		require.Zero(t, c.limit())
		c.half.Store(true)
		require.Equal(t, halfIdle, c.limit())
	})
}

// A side that is torn off takes the other with it.
func TestCarry_Reset(t *testing.T) {
	t.Run("of the program", func(t *testing.T) {
		_, program, relay := carrying(t, Options{})
		require.NoError(t, program.SetLinger(0))
		program.Close()
		ends(t, relay)
	})
	t.Run("of the relay", func(t *testing.T) {
		r, program, relay := carrying(t, Options{})
		require.NoError(t, relay.SetLinger(0))
		relay.Close()
		ends(t, program)
		r.until("it is over", func() bool { return r.Stats().Open == 0 })
	})
}
