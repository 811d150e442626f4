package gossip

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
	"github.com/convertfw/floatrelay/lease"
)

func TestProbe_AllWaysAndWhatTheOtherSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		cfg := config(2)
		cfg.Meta.Share = "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d"
		a, b := s.start(config(1), 0), s.start(cfg, 1, 0)
		defer closeAll(a, b)
		see(t, 10*time.Second, a, b)
		got := a.Probe(t.Context(), id(2))
		require.True(t, got.Answered)
		require.True(t, got.Ways.All(), got.Ways)
		require.Equal(t, "POS-02", got.Says.Station)
		require.Equal(t, cfg.Meta.Share, got.Says.Share)
		require.Equal(t, "v1", got.Says.Version)
		require.Less(t, got.Skew.Abs(), got.RTT+2*time.Millisecond, "one clock, seen from two sides")
		zone, east := time.Now().Zone()
		require.Equal(t, zone, got.Says.Zone)
		require.Equal(t, east, got.Says.ZoneSec)
	})
}

// Each way that is cut, and no other, is missing from the answer.
func TestProbe_TellsWhichWayIsCut(t *testing.T) {
	for name, tc := range map[string]struct {
		out, back bool // what still gets through
	}{
		"nothing reaches it":       {false, true},
		"nothing comes back":       {true, false},
		"neither way (but listed)": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t)
				a, b, c := s.start(config(1), 0), s.start(config(2), 1, 0), s.start(config(3), 2, 0)
				defer closeAll(a, b, c)
				see(t, 10*time.Second, a, b, c)
				s.net.CutOneWay(a.host, b.host, !tc.out)
				s.net.CutOneWay(b.host, a.host, !tc.back)
				begin := time.Now()
				got := a.Probe(t.Context(), id(2))
				require.LessOrEqual(t, time.Since(begin), probeTime+time.Second)
				require.False(t, got.Answered, "a connection needs both ways, and so does a packet's answer")
				require.Equal(t, Ways{}, got.Ways)
			})
		})
	}
}

// firewall is a transport that loses its own packets or refuses its own
// connections once it is told to.
type firewall struct {
	*memnet.Port
	packets, streams atomic.Bool
}

func (f *firewall) WriteTo(b []byte, addr string) (time.Time, error) {
	if f.packets.Load() {
		return time.Now(), nil
	}
	return f.Port.WriteTo(b, addr)
}

func (f *firewall) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	return f.WriteTo(b, a.Addr)
}

func (f *firewall) DialAddressTimeout(a memberlist.Address, limit time.Duration) (net.Conn, error) {
	if f.streams.Load() {
		return nil, errors.New("refused")
	}
	return f.Port.DialAddressTimeout(a, limit)
}

// behind starts a member behind a firewall of its own.
func (s *station) behind(cfg Config, host int, peers ...string) (*node, *firewall) {
	n, f := &node{rec: &recorder{}, host: memnet.Host(host)}, &firewall{}
	cfg.AdvertiseAddr, cfg.Port, cfg.Peers = n.host.String(), testPort, func() []string { return peers }
	cfg.Transport = func(a netip.Addr, port int) (_ Transport, err error) {
		f.Port, err = s.net.Listen(a, port)
		return f, err
	}
	g, err := New(cfg, n.rec)
	require.NoError(s.t, err)
	n.Gossip = g
	return n, f
}

func TestProbe_TellsUDPFromTCPAndOutFromBack(t *testing.T) {
	for name, tc := range map[string]struct {
		at   int // whose firewall
		udp  bool
		want Ways
	}{
		"our packets are lost":        {0, true, Ways{UDPBack: true, TCPOut: true, TCPBack: true}},
		"its packets are lost":        {1, true, Ways{UDPOut: true, TCPOut: true, TCPBack: true}},
		"our connections are refused": {0, false, Ways{UDPOut: true, UDPBack: true, TCPBack: true}},
		"its connections are refused": {1, false, Ways{UDPOut: true, UDPBack: true, TCPOut: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t)
				a, fa := s.behind(config(1), 0)
				b, fb := s.behind(config(2), 1, a.host.String())
				defer closeAll(a, b)
				see(t, 10*time.Second, a, b)
				wall := []*firewall{fa, fb}[tc.at]
				wall.packets.Store(tc.udp)
				wall.streams.Store(!tc.udp)
				got := a.Probe(t.Context(), id(2))
				require.Equal(t, tc.want, got.Ways)
				require.True(t, got.Answered)
			})
		})
	}
}

func TestProbe_OfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a := s.start(config(1), 0)
		defer closeAll(a)
		require.False(t, a.Probe(t.Context(), id(9)).Answered)
	})
}

func TestProbeRace_IsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		names := make(chan string, 10)
		hang := make(chan struct{})
		var stuck atomic.Bool
		cfg := config(2)
		cfg.Race = func(_ context.Context, race string) (string, error) {
			names <- race
			if stuck.Load() {
				<-hang // whatever ctx says, like a share
			}
			return "10", nil
		}
		a, b := s.start(config(1), 0), s.start(cfg, 1, 0)
		defer closeAll(a, b)
		see(t, 10*time.Second, a, b)
		began := 0
		race := func(name string) Says {
			says, ok := a.ProbeRace(t.Context(), id(2), name, func() { began++ })
			require.True(t, ok)
			return says
		}
		name := lease.NewRace()
		says := race(name)
		require.Equal(t, "10", says.Won)
		require.Empty(t, says.Refused)
		require.Equal(t, name, <-names)
		require.Equal(t, 1, began)

		require.Contains(t, race(lease.NewRace()).Refused, "a moment ago")
		time.Sleep(raceEvery)
		for _, bad := range []string{"../../etc/passwd", strings.Repeat("g", 32), name + "0", strings.ToUpper(name)} {
			require.Contains(t, race(bad).Refused, "does not race", bad)
		}
		require.Empty(t, names, "refused before anything was done")
		stuck.Store(true)
		_, ok := a.ProbeRace(t.Context(), id(2), lease.NewRace(), func() {})
		require.False(t, ok, "a share that hangs")
		require.Contains(t, race(lease.NewRace()).Refused, "still going on")
		require.Len(t, names, 1)
		require.True(t, a.Probe(t.Context(), id(2)).Ways.All(), "it hinders nothing else")
		close(hang)
	})
}

func TestProbeRace_AMemberWithoutAShareSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		cfg := config(2)
		cfg.Race = func(context.Context, string) (string, error) { return "", errors.New("no write access to W:\\socket") }
		a, b := s.start(config(1), 0), s.start(cfg, 1, 0)
		defer closeAll(a, b)
		see(t, 10*time.Second, a, b)
		says, ok := b.ProbeRace(t.Context(), id(1), lease.NewRace(), func() {})
		require.True(t, ok)
		require.Equal(t, "it does not race", says.Refused)
		says, ok = a.ProbeRace(t.Context(), id(2), lease.NewRace(), func() {})
		require.True(t, ok)
		require.Contains(t, says.Refused, "no write access")
	})
}

// More questions than anybody honest asks are dropped, and nothing else is.
func TestProbe_AFloodIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 10*time.Second, a, b)
		ask, err := probeMessage{Type: typeAsk, From: id(1), Q: "x", By: byUDP}.encode()
		require.NoError(t, err)
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		for range 10 * probeRate {
			require.True(t, b.probes.take(ask))
		}
		require.LessOrEqual(t, len(b.probes.asked), probeQueue)
		require.Positive(t, b.probes.rate.skipped)
		time.Sleep(2 * time.Second)
		require.True(t, a.Probe(t.Context(), id(2)).Ways.All())
		require.Zero(t, b.Dropped(), "the queue of beats is another one")
	})
}

func TestProbeMessage_RoundTripAndRubbish(t *testing.T) {
	m := probeMessage{Type: typeAnswer, From: id(1), Q: "ab12", By: byTCP, Of: byUDP, Says: Says{Station: "功", Share: "x", WallMS: 5, Zone: "CST", ZoneSec: 28800, Won: "101?"}}
	b, err := m.encode()
	require.NoError(t, err)
	got, err := decodeProbe(b)
	require.NoError(t, err)
	require.Equal(t, m, got)
	require.False(t, isProbe([]byte{wireVersion, typeBeat}))
	for name, bad := range map[string][]byte{
		"nothing":      {},
		"no body":      appendID([]byte{wireVersion, typeAsk}, id(1)),
		"no sender":    {wireVersion, typeAsk, 0, 0},
		"not json":     append(appendID([]byte{wireVersion, typeAsk}, id(1)), "hello"...),
		"no question":  append(appendID([]byte{wireVersion, typeAsk}, id(1)), `{"by":"udp"}`...),
		"no way":       append(appendID([]byte{wireVersion, typeAsk}, id(1)), `{"q":"1","by":"pigeon"}`...),
		"too long":     append(appendID([]byte{wireVersion, typeAsk}, id(1)), `{"q":"1","by":"udp","s":"`+strings.Repeat("x", maxProbe)+`"}`...),
		"long message": append(appendID([]byte{wireVersion, typeAsk}, id(1)), `{"q":"`+strings.Repeat("1", 99)+`","by":"udp"}`...),
	} {
		_, err := decodeProbe(bad)
		require.Error(t, err, name)
	}
	_, err = probeMessage{Type: typeAsk, From: id(1), Q: strings.Repeat("x", maxProbe)}.encode()
	require.Error(t, err)
	_, err = decodeMessage(b)
	require.ErrorIs(t, err, errFuture, "a build that does not know probes ignores them")
}
