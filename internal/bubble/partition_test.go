package bubble

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
)

// merge is how long members that were apart need to find each other: a rejoin
// is tried every 10 s.
const merge = 15 * time.Second

// halves returns the leader's half of a station of four and the other one. The
// leader's companion is of its roster, as everybody is.
func halves(s *site) (leader *node, mine, other []*node) {
	leader = s.settle(40 * time.Second)
	mine = []*node{leader}
	for _, n := range s.live() {
		switch {
		case n == leader:
		case len(mine) == 1:
			mine = append(mine, n)
		default:
			other = append(other, n)
		}
	}
	return leader, mine, other
}

// stallShare makes the share hang for these members, or answer again.
func (s *site) stallShare(on bool, nodes ...*node) {
	s.watch.note("FAULT: the share hangs for %v: %v", addrs(nodes...), on)
	for _, n := range nodes {
		if on {
			n.stall.Close()
		} else {
			n.stall.Open()
		}
	}
}

// cutShare takes the share away from these members, or gives it back.
func (s *site) cutShare(on bool, nodes ...*node) {
	s.watch.note("FAULT: the share is out of reach for %v: %v", addrs(nodes...), on)
	for _, n := range nodes {
		n.cut.Set(on)
	}
}

// The share decides, and it is there for both halves: the leader goes on.
func TestPartition_TwoAndTwoWithShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, 4, true)
		defer s.close()
		_, mine, other := halves(s)
		s.cutLAN(mine, other)
		s.steady(90 * time.Second)
		for _, n := range s.live() {
			require.EqualValues(t, 1, n.alive.Load(), "the halves are apart")
		}
		s.heal()
		t.Logf("merged after %v", s.within(merge, "the halves merge", s.joined))
		l := s.settle(10 * time.Second)
		require.Same(t, mine[0], l)
		s.steady(time.Minute)
		require.Equal(t, 1, s.watch.count())
	})
}

// The leader dies while the LAN is cut: whoever of its roster is next takes
// over, wherever it is, and stays the leader when the halves merge.
func TestPartition_TwoAndTwoLeaderDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, 4, true)
		defer s.close()
		leader, mine, other := halves(s)
		s.cutLAN(mine, other)
		time.Sleep(45 * time.Second)
		took := s.replaced(s.unplug(leader), failover)
		s.steady(45 * time.Second)
		s.heal()
		s.plug(leader.host)
		merged := s.within(merge, "the halves merge", s.joined)
		s.steady(time.Minute)
		t.Logf("new relay after %v, merged after %v", took, merged)
	})
}

// The leader's half loses the share too: it must stop by itself before anybody
// of the other half may start.
func TestPartition_LeadersHalfLosesTheShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, 4, true)
		defer s.close()
		leader, mine, other := halves(s)
		at := time.Now()
		s.cutLAN(mine, other)
		s.cutShare(true, mine...)
		took := s.replaced(at, failover)
		require.Contains(t, other, s.nodes[indexOf(s, s.watch.last().station)])
		s.steady(90*time.Second - time.Since(at))
		s.heal()
		s.cutShare(false, mine...)
		s.within(merge, "the halves merge", s.joined)
		s.steady(time.Minute)
		require.Equal(t, arbiter.Client, leader.status().Role)
		t.Logf("new relay after %v", took)
	})
}

func indexOf(s *site, station string) int {
	for i, n := range s.all() {
		if n.station() == station {
			return i
		}
	}
	return -1
}

// While the whole roster vouches the share may hang for nearly TTL.
func TestShare_StallsBrieflyWithHealthyLAN(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) {
		s := build(t, n, true)
		defer s.close()
		s.settle(40 * time.Second)
		for range 3 {
			time.Sleep(between(0, renew))
			s.stallShare(true, s.live()...)
			time.Sleep(ttl - renew - time.Second)
			s.stallShare(false, s.live()...)
			time.Sleep(5 * time.Second)
		}
		s.steady(time.Minute)
		require.Equal(t, 1, s.watch.count())
	})
}

// Beyond TTL there is no relay without the share, and one again soon after.
func TestShare_StallsForLong(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) {
		s := build(t, n, true)
		defer s.close()
		s.settle(40 * time.Second)
		s.stallShare(true, s.live()...)
		s.within(ttl+time.Second, "the relay stops", func() bool { return len(s.watch.running()) == 0 })
		time.Sleep(between(10*time.Second, 40*time.Second))
		require.Empty(t, s.watch.running())
		s.stallShare(false, s.live()...)
		took := s.within(healed, "a relay comes back", func() bool { return s.leader() != nil })
		s.steady(time.Minute)
		t.Logf("back after %v", took)
	})
}

// Only the leader loses the share: its roster vouches until TTL, then another
// member, who has the share, takes over.
func TestShare_LeaderAloneLosesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, 3, true)
		defer s.close()
		l := s.settle(40 * time.Second)
		at := time.Now()
		s.cutShare(true, l)
		took := s.replaced(at, prime(ttl)+failover+time.Second)
		require.NotEqual(t, l.station(), s.watch.last().station)
		time.Sleep(10 * time.Second)
		s.cutShare(false, l)
		s.steady(time.Minute)
		t.Logf("new relay after %v", took)
	})
}

// Without any LAN the share alone keeps the relay up.
func TestLAN_DownWithHealthyShare(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) {
		s := build(t, n, true)
		defer s.close()
		l := s.settle(40 * time.Second)
		var alone [][]*node
		for _, n := range s.live() {
			alone = append(alone, []*node{n})
		}
		s.cutLAN(alone...)
		s.steady(90 * time.Second)
		require.Empty(t, l.status().Roster, "nobody vouches")
		s.heal()
		s.within(merge, "the members find each other", s.joined)
		require.Same(t, l, s.settle(10*time.Second))
		require.Equal(t, 1, s.watch.count())
	})
}

// Without any LAN the leader dies: the others see it on the share after TTL'.
func TestLAN_DownAndLeaderDies(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) {
		s := build(t, n, true)
		defer s.close()
		l := s.settle(40 * time.Second)
		var alone [][]*node
		for _, n := range s.live() {
			alone = append(alone, []*node{n})
		}
		s.cutLAN(alone...)
		time.Sleep(30 * time.Second)
		// POLL until the last record is seen, TTL' from there, and an
		// outsider's random second.
		took := s.replaced(s.unplug(l), poll+prime(ttl)+2*time.Second)
		s.steady(30 * time.Second)
		s.heal()
		s.steady(time.Minute)
		t.Logf("new relay after %v", took)
	})
}

// Ordinary weather must not change the leader: a hundredth of the packets lost.
func TestWeather_LossChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, 5, true)
		defer s.close()
		s.settle(40 * time.Second)
		s.net.SetQuality(lossy)
		s.steady(5 * time.Minute)
		require.Equal(t, 1, s.watch.count())
	})
}
