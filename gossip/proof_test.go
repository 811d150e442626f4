package gossip

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
)

// captured is a packet as somebody in the LAN sees it.
type captured struct {
	from, to netip.AddrPort
	data     []byte
}

// capture records every packet until stop is called.
func (s *station) capture() (stop func() []captured) {
	var all []captured
	s.net.Tap(func(from, to netip.AddrPort, b []byte) { all = append(all, captured{from, to, slices.Clone(b)}) })
	return func() []captured {
		s.net.Tap(nil)
		return all
	}
}

// Everything that was sent while an earlier run lived, its death left out, is
// sent again for minutes by somebody without the token: from another
// address, and from that of the dead run, where it answers what it is asked with
// whatever that run ever said. The dead run never counts as alive.
func TestHole12_ReplayedRunIsNeverAlive(t *testing.T) {
	for _, at := range []int{50, 2} {
		t.Run(fmt.Sprintf("stranger at host %d", at), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t)
				stop := s.capture()
				a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
				ghost := config(3)
				ghost.Meta.Share, ghost.Meta.Role = "00000000", "leader"
				c := s.start(ghost, 2, 0)
				see(t, 5*time.Second, a, b, c)
				time.Sleep(2 * time.Second)
				packets := stop()
				s.net.PowerOff(c.host, true)
				c.port.Kill()
				closeAll(c)
				see(t, 10*time.Second, a, b)
				time.Sleep(2 * time.Minute) // memberlist has forgotten it
				s.net.PowerOff(c.host, false)

				stranger, err := s.net.Listen(memnet.Host(at), testPort)
				require.NoError(t, err)
				defer stranger.Kill()
				claimed := 0
				for range 12 {
					for _, p := range packets {
						_, _ = stranger.WriteTo(p.data, p.to.String())
					}
					for range 10 {
						time.Sleep(time.Second)
						answerAnything(stranger, packets, c.host)
						for _, n := range []*node{a, b} {
							require.NotContains(t, n.IDs(), id(3))
							if r, ok := n.table.get(id(3)); ok && r.claimed {
								claimed++
							}
						}
					}
				}
				require.Positive(t, claimed, "the replays did not even fool memberlist")
				see(t, time.Second, a, b)
				closeAll(a, b)
			})
		})
	}
}

// answerAnything answers each packet that waits with all that host ever said to
// its sender.
func answerAnything(p *memnet.Port, packets []captured, host netip.Addr) {
	for {
		select {
		case q := <-p.PacketCh():
			for _, x := range packets[:min(len(packets), 60)] {
				if x.from.Addr() == host {
					_, _ = p.WriteTo(x.data, q.From.String())
				}
			}
		default:
			return
		}
	}
}

// A member counts about as fast as before: it is asked at once.
func TestHole12_JoinersCountAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		time.Sleep(10 * time.Second)
		for i := range 20 {
			c := s.start(config(10+i), 2, 0)
			require.Less(t, see(t, 5*time.Second, a, b, c), 400*time.Millisecond)
			require.NoError(t, c.Leave(time.Second))
			closeAll(c)
			see(t, 5*time.Second, a, b)
		}
	})
}

// Where no packets pass between two PCs, a connection of either proves both.
func TestHole12_ProvesOverAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		for _, way := range [][2]int{{0, 1}, {1, 0}} {
			s.net.SetLink(memnet.Host(way[0]), memnet.Host(way[1]), memnet.Quality{Loss: 1})
		}
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		time.Sleep(time.Minute)
		see(t, 0, a, b)
	})
}

// The bookkeeping: who is asked when, and what an answer is worth.
func TestHole12_Questions(t *testing.T) {
	now := time.Now()
	tb := newTable(func() {}, nil)
	tb.now = func() time.Time { return now }
	up := func() bool { r, _ := tb.get(id(1)); return r.Up() }
	ask := func(share string) []question {
		q, wait := tb.due("me", share)
		require.Positive(t, wait)
		return q
	}
	alive := func(m Meta) {
		n := mlNode(id(1), "10.0.0.1")
		n.Meta = m.Encode()
		tb.update(n, Alive, false, 1)
	}
	alive(Meta{Share: "s"})
	first := ask("s")
	require.Len(t, first, 1)
	require.False(t, up(), "a row alone proves nothing")
	require.False(t, tb.answered("", id(1)))
	require.False(t, tb.answered("0123456789abcdef", id(1)), "an answer to another question")
	require.False(t, tb.answered(first[0].q, id(2)), "an answer of another run")
	require.Empty(t, ask("s"), "not asked twice at once")
	now = now.Add(askFirst)
	require.Equal(t, first[0].q, ask("s")[0].q, "asked again")
	require.True(t, tb.answered(first[0].q, id(1)))
	require.True(t, up())
	require.False(t, tb.answered(first[0].q, id(1)), "a question is answered once")

	tb.update(mlNode(id(1), "10.0.0.1"), Dead, false, 1)
	require.Empty(t, ask("s"), "the dead are not asked")
	alive(Meta{Share: "s"})
	require.False(t, up(), "asked again whenever it comes back")
	second := ask("s")
	require.NotEqual(t, first[0].q, second[0].q)
	require.False(t, tb.answered(first[0].q, id(1)), "replayed")
	require.True(t, tb.answered(second[0].q, id(1)))

	require.Empty(t, ask("s"))
	now = now.Add(proofLeast)
	third := ask("s")
	require.Len(t, third, 1, "asked anew after a while")
	now = now.Add(proofPatience - time.Millisecond)
	ask("s")
	require.True(t, up(), "patience")
	now = now.Add(2 * time.Millisecond)
	ask("s")
	require.False(t, up(), "replayed acks do not keep it alive for ever")
	require.True(t, tb.answered(third[0].q, id(1)))
	require.True(t, up(), "only slow")

	require.Empty(t, ask("s"))
	alive(Meta{Share: "another"})
	require.Len(t, ask("s"), 1, "it could make us step down: asked at once")
	require.True(t, up())
}
