package gossip

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
)

// announced begins a stream of memberlist that announces n bytes.
func announced(kmsn string, n int) []byte {
	label := siteLabel(kmsn)
	b := append([]byte{244, byte(len(label))}, label...)
	b = append(b, 10) // an encrypted message
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

// Strangers with 256 connections announce 20 MB on each and send them: what is
// kept of it stays small, the members stay, and all is free again at the end.
func TestHole13_StrangersBytesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		s.net.SetQuality(memnet.Quality{})

		chunk := bytes.Repeat([]byte{7}, 64<<10)
		var wg sync.WaitGroup
		var ports []*memnet.Port
		for h := range 16 {
			p, err := s.net.Listen(memnet.Host(100+h), 9)
			require.NoError(t, err)
			ports = append(ports, p)
			for range 16 {
				c, err := p.DialTimeout("10.0.0.1:7946", time.Second)
				require.NoError(t, err)
				wg.Go(func() {
					defer c.Close()
					_, err := c.Write(announced("4711", 20<<20))
					for sent := 0; err == nil && sent < 20<<20; sent += len(chunk) {
						_, err = c.Write(chunk)
						time.Sleep(10 * time.Millisecond)
					}
				})
			}
		}
		most := 0
		for range 300 {
			time.Sleep(10 * time.Millisecond)
			most = max(most, a.tr.inflow.held())
			require.LessOrEqual(t, most, maxInflow+maxStreams*readAtOnce)
		}
		require.Greater(t, most, maxStreamBytes, "the strangers were heard at all")
		wg.Wait()
		for _, p := range ports {
			p.Kill()
		}
		time.Sleep(5 * time.Second)
		require.Zero(t, a.tr.inflow.held(), "all of it was let go")
		see(t, 0, a, b)
	})
}

// One connection ends at its own bound, one address at its own.
func TestHole13_EachConnectionAndAddressIsBounded(t *testing.T) {
	var f inflow
	for range maxHostBytes / maxStreamBytes {
		require.NoError(t, f.add("10.0.0.1", maxStreamBytes))
	}
	require.ErrorIs(t, f.add("10.0.0.1", 1), errTooMuch)
	require.NoError(t, f.add("10.0.0.2", maxStreamBytes), "others are still heard")
	require.NoError(t, f.add("", maxStreamBytes), "and answers to our own connections")
	f.take("10.0.0.1", maxHostBytes+1)
	require.NoError(t, f.add("10.0.0.1", 1))
	require.ErrorIs(t, f.add("10.0.0.3", maxInflow), errTooMuch)

	here, there := net.Pipe()
	defer there.Close()
	owner := &splitter{open: map[*stream]struct{}{}, perIP: map[string]int{}}
	c := &stream{Conn: here, owner: owner, ip: "10.0.0.1"}
	go func() {
		chunk := make([]byte, 1<<10)
		for {
			if _, err := there.Write(chunk); err != nil {
				return
			}
		}
	}()
	n, err := io.Copy(io.Discard, struct{ io.Reader }{c})
	require.ErrorIs(t, err, errTooMuch)
	require.EqualValues(t, maxStreamBytes, n)
	require.Zero(t, owner.inflow.held(), "a connection that was cut holds nothing")
}

// Whoever is joined is no more trusted than who joins.
func TestHole13_AnswersToAJoinAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		s.net.SetQuality(memnet.Quality{})
		liar, err := s.net.Listen(memnet.Host(9), testPort)
		require.NoError(t, err)
		defer liar.Kill()
		sent := make(chan int, 1)
		go func() {
			c := <-liar.StreamCh()
			b := append([]byte{10}, make([]byte, 4)...)
			binary.BigEndian.PutUint32(b[1:], 20<<20)
			n, err := c.Write(b)
			for err == nil && n < 20<<20 {
				var k int
				k, err = c.Write(make([]byte, 64<<10))
				n += k
				time.Sleep(time.Millisecond)
			}
			sent <- n
		}()
		a := s.start(config(1), 0)
		_, err = a.Join([]string{memnet.Host(9).String()})
		require.ErrorContains(t, err, errTooMuch.Error())
		require.Less(t, <-sent, 1<<20)
		require.Zero(t, a.tr.inflow.held())
		closeAll(a)
	})
}
