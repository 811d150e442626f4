package sitetest

import (
	"crypto/rand"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/station"
)

type opsPacket struct {
	from, to int
	data     []byte
}

// opsCapture records everything the nodes say to each other in datagrams.
func opsCapture(s *site) (stop func() []opsPacket) {
	var mu sync.Mutex
	var all []opsPacket
	s.Switch.Tap(func(from, to int, data []byte) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, opsPacket{from, to, data})
	})
	return func() []opsPacket {
		s.Switch.Tap(nil)
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// Everything that was said during one tenure, its end and a goodbye, said again
// later by somebody who knows no token, changes nothing.
func TestOps_AbuseReplayedPackets(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, station.Options{Switched: true, Extra: steady()})
	s.roster(2)
	stop := opsCapture(s)
	time.Sleep(2 * time.Second) // beats, vouches, probes
	require.NoError(t, n.Client().Handoff(t.Context(), ""))
	next, after := s.leader(st.Epoch, slack)
	require.NoError(t, n.Stop(s.within(20*time.Second)))
	time.Sleep(500 * time.Millisecond) // its goodbye
	packets := stop()
	require.Greater(t, len(packets), 50)
	require.NoError(t, n.Start())
	s.status(n, "is back", func(x localapi.Status) bool { return x.Role == "client" && x.Epoch == after.Epoch })
	before := s.roster(2)
	for round := range 5 {
		for _, p := range packets {
			s.Switch.Inject(p.from, p.to, p.data)
			if round == 4 { // and to whom it was never meant
				s.Switch.Inject(p.from, (p.to+1)%len(s.Nodes), p.data)
			}
		}
		time.Sleep(400 * time.Millisecond)
	}
	s.stays(next, after.Epoch, 3*time.Second)
	r := s.roster(2)
	require.ElementsMatch(t, before.Roster, r.Roster, "the same runs, not those of the recording")
	for _, x := range s.others(n) {
		s.member(x, n, "is alive", func(m localapi.Member) bool { return m.State == localapi.StateAlive })
	}
}

// Noise on both gossip ports, from somebody who is no member, changes nothing.
func TestOps_AbuseNoise(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, station.Options{Nodes: 3, Extra: steady()})
	s.roster(2)
	for _, x := range s.Nodes {
		addr := net.JoinHostPort(x.Addr, strconv.Itoa(x.GossipPort))
		u, err := net.Dial("udp", addr)
		require.NoError(t, err)
		defer u.Close()
		for i := range 2000 {
			b := make([]byte, 1+i%1400)
			_, _ = rand.Read(b)
			_, _ = u.Write(b)
		}
		for range 40 { // held open, and never a word
			c, err := net.DialTimeout("tcp", addr, time.Second)
			if err == nil {
				defer c.Close()
			}
		}
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			b := make([]byte, 1<<20)
			_, _ = rand.Read(b)
			_, _ = c.Write(b)
			_ = c.Close()
		}
	}
	s.stays(n, st.Epoch, 4*time.Second)
	s.roster(2)
}
