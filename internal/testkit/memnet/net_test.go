package memnet

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pair opens a port at each of two hosts.
func pair(t *testing.T) (*Net, *Port, *Port) {
	n := New(1)
	n.SetQuality(Quality{Min: 10 * time.Millisecond, Max: 10 * time.Millisecond})
	a, err := n.Listen(Host(0), 7946)
	require.NoError(t, err)
	b, err := n.Listen(Host(1), 7946)
	require.NoError(t, err)
	return n, a, b
}

// stream connects a to b.
func stream(t *testing.T, a, b *Port) (here, there net.Conn) {
	done := make(chan net.Conn, 1)
	go func() { done <- <-b.StreamCh() }()
	here, err := a.DialTimeout(b.at.String(), time.Second)
	require.NoError(t, err)
	return here, <-done
}

func TestNet_PacketsTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t)
		begin := time.Now()
		_, err := a.WriteTo([]byte("x"), b.at.String())
		require.NoError(t, err)
		p := <-b.PacketCh()
		require.Equal(t, 10*time.Millisecond, time.Since(begin))
		require.Equal(t, "x", string(p.Buf))
		require.Equal(t, a.at.String(), p.From.String())
		require.Equal(t, time.Now(), p.Timestamp)
	})
}

func TestNet_LosesPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t)
		count := func(send int) int {
			for range send {
				_, _ = a.WriteTo([]byte("x"), b.at.String())
			}
			time.Sleep(time.Second)
			got := 0
			for {
				select {
				case <-b.PacketCh():
					got++
				default:
					return got
				}
			}
		}
		require.Equal(t, 100, count(100))
		n.SetLink(Host(0), Host(1), Quality{Loss: 0.25})
		require.InDelta(t, 750, count(1000), 60)
		n.SetLink(Host(0), Host(1), Quality{})
		n.CutOneWay(Host(0), Host(1), true)
		require.Zero(t, count(10))
		n.CutOneWay(Host(0), Host(1), false)
		n.Partition([]netip.Addr{Host(0)}, []netip.Addr{Host(1)})
		require.Zero(t, count(10))
		n.Heal()
		n.PowerOff(Host(1), true)
		require.Zero(t, count(10))
		n.PowerOff(Host(1), false)
		require.Equal(t, 10, count(10))
		require.Equal(t, inbox, count(2*inbox), "a full inbox drops")
		require.Greater(t, n.Stats().Lost, uint64(inbox))
	})
}

func TestConn_CarriesDataInOrderAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t)
		n.SetQuality(Quality{Max: 50 * time.Millisecond})
		here, there := stream(t, a, b)
		for _, w := range []string{"one ", "two ", "three"} {
			_, err := here.Write([]byte(w))
			require.NoError(t, err)
		}
		require.NoError(t, here.Close())
		got, err := io.ReadAll(there)
		require.NoError(t, err)
		require.Equal(t, "one two three", string(got))
		_, err = here.Read(make([]byte, 1))
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = there.Write([]byte("x"))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.NoError(t, there.Close())
		require.NoError(t, there.Close())
	})
}

func TestConn_DeadlinesWakeReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, a, b := pair(t)
		here, there := stream(t, a, b)
		defer there.Close()
		defer here.Close()
		begin := time.Now()
		require.NoError(t, here.SetDeadline(begin.Add(time.Minute)))
		go func() {
			time.Sleep(time.Second)
			_ = here.SetReadDeadline(begin.Add(2 * time.Second))
		}()
		_, err := here.Read(make([]byte, 1))
		var ne net.Error
		require.True(t, errors.As(err, &ne) && ne.Timeout())
		require.Equal(t, 2*time.Second, time.Since(begin))
	})
}

func TestConn_ACutHoldsDataBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t)
		here, there := stream(t, a, b)
		defer there.Close()
		n.CutOneWay(Host(0), Host(1), true)
		_, err := here.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, here.Close())
		require.NoError(t, there.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err = there.Read(make([]byte, 1))
		require.ErrorIs(t, err, errTimeout, "not even the end of it arrives")
		n.Heal()
		require.NoError(t, there.SetReadDeadline(time.Time{}))
		got, err := io.ReadAll(there)
		require.NoError(t, err)
		require.Equal(t, "x", string(got))
	})
}

func TestPort_KillResetsItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t)
		here, there := stream(t, a, b)
		defer here.Close()
		b.Kill()
		b.Kill()
		_, err := here.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		_, err = there.Read(make([]byte, 1))
		require.Error(t, err)
		begin := time.Now()
		_, err = a.DialTimeout(b.at.String(), time.Second)
		require.ErrorIs(t, err, errRefused)
		require.Equal(t, 20*time.Millisecond, time.Since(begin), "refused after a round trip")
		_, err = n.Listen(Host(1), 7946)
		require.NoError(t, err, "the port is free")
		_, err = n.Listen(Host(1), 7946)
		require.ErrorContains(t, err, "in use")
	})
}

func TestPort_DialToADarkHostTakesTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, a, b := pair(t)
		n.PowerOff(Host(1), true)
		begin := time.Now()
		_, err := a.DialTimeout(b.at.String(), 3*time.Second)
		require.ErrorIs(t, err, errTimeout)
		require.Equal(t, 3*time.Second, time.Since(begin))
		go func() {
			time.Sleep(time.Second)
			a.Kill()
		}()
		_, err = a.DialTimeout(b.at.String(), time.Hour)
		require.ErrorIs(t, err, net.ErrClosed)
		_, err = a.WriteTo([]byte("x"), b.at.String())
		require.ErrorIs(t, err, net.ErrClosed)
	})
}
