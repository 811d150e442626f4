package sitetest

import (
	"crypto/rand"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
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

// vouching waits until the roster is exactly the runs of the nodes beside the
// leader: an earlier run leaves it a while after its end.
func (s *site) vouching(leader *localsite.Node) {
	s.t.Helper()
	s.until(2*slack, "the roster is who runs now", func() error {
		r, err := s.Head(s.t.Context())
		if err != nil {
			return err
		}
		var want, got []string
		for _, x := range s.others(leader) {
			m, err := x.Members(s.t.Context())
			if err != nil {
				return err
			}
			want = append(want, m.Self)
		}
		for _, id := range r.Roster {
			got = append(got, id.String())
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			return fmt.Errorf("%w: roster %v, running %v", errNotYet, got, want)
		}
		return nil
	})
}

// Everything that was said during one tenure, its end and a goodbye, said again
// later by somebody who knows no token, changes nothing.
func TestOps_AbuseReplayedPackets(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Switched: true, Extra: steady()})
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
	s.vouching(next)
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
	s.vouching(next) // and not the runs of the recording
	for _, x := range s.others(n) {
		s.member(x, n, "is alive", func(m localapi.Member) bool { return m.State == localapi.StateAlive })
	}
}

// Everything an earlier run said and heard, but for its goodbyes, is said again
// after it lost power and was forgotten, by somebody who knows no token. Nobody
// takes it for alive. REPLAY_SECONDS makes it last longer.
func TestHole12_ReplayedRunStaysDead(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Switched: true, Extra: steady()})
	s.roster(2)
	ghost := s.others(n)[0]
	require.NoError(t, ghost.Stop(s.within(20*time.Second)))
	stop := opsCapture(s)
	require.NoError(t, ghost.Start())
	s.vouching(n)
	time.Sleep(2 * time.Second)
	packets := stop()
	ghost.PowerCut()
	live := s.others(ghost)
	for _, x := range live {
		s.member(x, ghost, "is dead", func(m localapi.Member) bool { return m.State == localapi.StateDead })
	}
	s.roster(1)
	time.Sleep(32 * time.Second) // until memberlist has forgotten it
	seconds := repeats(t, "REPLAY_SECONDS", 12)
	for look := range 2 * seconds {
		for _, p := range packets {
			s.Switch.Inject(p.from, p.to, p.data)
			if look%2 == 0 {
				s.Switch.Inject(p.from, (p.to+1)%len(s.Nodes), p.data)
			}
		}
		time.Sleep(500 * time.Millisecond)
		for _, x := range live {
			all, err := x.Members(t.Context())
			require.NoError(t, err)
			for _, m := range all.Members {
				if m.Station == ghost.Station {
					require.Equal(t, localapi.StateDead, m.State, "look %d of %s", look, x.Station)
				}
			}
		}
	}
	s.stays(n, st.Epoch, time.Second)
	s.roster(1)
	require.NoError(t, ghost.Start()) // what was said in its name keeps nobody out
	s.vouching(n)
}

// Noise on both gossip ports, from somebody who is no member, changes nothing.
func TestOps_AbuseNoise(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 3, Extra: steady()})
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
