package bubble

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
)

// within a bubble, for each of these sizes.
func sizes(t *testing.T, ns []int, f func(t *testing.T, n int)) {
	for _, n := range ns {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, n) })
		})
	}
}

var small = []int{2, 3, 5}

func TestElect_EmptyShare(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) {
		s := build(t, n, false)
		defer s.close()
		// Whoever has tried to found a chain waits for POLL before it takes it, and
		// now and then everybody has: they found the folder empty at the same time.
		took := s.within(healed+poll, "a first relay", func() bool { return s.leader() != nil })
		s.settle(10 * time.Second)
		s.steady(time.Minute)
		require.Equal(t, 1, s.watch.count(), "the first relay stays")
		t.Logf("first relay after %v", took)
	})
}

func TestElect_ChainGivenBack(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) {
		s := build(t, n, true)
		defer s.close()
		took := s.within(time.Second, "a relay", func() bool { return s.leader() != nil })
		s.settle(10 * time.Second)
		s.steady(time.Minute)
		t.Logf("relay after %v", took)
	})
}

// fails lets the leader fail in one way, again and again, and measures.
func fails(t *testing.T, n int, fault func(s *site, l *node) time.Time, bound time.Duration) {
	s := build(t, n, true)
	defer s.close()
	for range 3 {
		l := s.settle(40 * time.Second)
		time.Sleep(between(0, renew))
		took := s.replaced(fault(s, l), bound)
		t.Logf("new relay after %v", took)
		s.steady(20 * time.Second)
		if l.isGone() {
			s.plug(l.host)
		} else {
			s.thaw(l)
		}
		s.steady(20 * time.Second)
		require.NotEqual(t, arbiter.Leader, s.nodes[l.i].status().Role, "who failed is a client")
	}
}

func TestCrash_HostGone(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) { fails(t, n, (*site).unplug, failover) })
}

func TestCrash_DaemonFrozen(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) { fails(t, n, (*site).freeze, failover) })
}

// A killed daemon leaves its last will.
func TestCrash_DaemonKilled(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) { fails(t, n, (*site).kill, 500*time.Millisecond) })
}

func TestCrash_DaemonStopped(t *testing.T) {
	sizes(t, small, func(t *testing.T, n int) { fails(t, n, (*site).retire, 500*time.Millisecond) })
}

// A site whose leader and whole roster are lost at once has nobody who may
// take over fast; the others may after TTL'.
func TestCrash_LeaderAndRoster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, 12, true)
		defer s.close()
		l := s.settle(40 * time.Second)
		lost := map[string]bool{l.id.String(): true}
		for _, id := range l.status().Roster {
			lost[id.String()] = true
		}
		at := time.Now()
		for _, n := range s.live() {
			if lost[n.id.String()] {
				s.unplug(n)
			}
		}
		require.Len(t, s.live(), 4)
		t.Logf("new relay after %v", s.replaced(at, prime(ttl)+10*time.Second))
		s.steady(time.Minute)
	})
}
