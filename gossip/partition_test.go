package gossip

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
	"github.com/convertfw/floatrelay/lease"
)

// A11: apart for longer than memberlist remembers the dead, then healed.
func TestA11_RejoinsAfterALongPartition(t *testing.T) {
	for name, apart := range map[string]time.Duration{"90s": 90 * time.Second, "ten minutes": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t)
				// Only the first contact is known; the rest is remembered.
				a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
				c, d := s.start(config(3), 2, 0), s.start(config(4), 3, 0)
				defer closeAll(a, b, c, d)
				see(t, 10*time.Second, a, b, c, d)
				s.net.Partition([]netip.Addr{a.host, b.host}, []netip.Addr{c.host, d.host})
				see(t, 10*time.Second, a, b)
				see(t, 10*time.Second, c, d)
				time.Sleep(apart)
				require.Equal(t, Dead, a.row(t, id(3)).State, "still listed")
				require.GreaterOrEqual(t, time.Since(a.row(t, id(3)).LastSeen), apart)
				s.net.Heal()
				took := see(t, 15*time.Second, a, b, c, d)
				t.Logf("merged after %v", took)
			})
		})
	}
}

func TestGossip_OneWayCutDoesNotSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b, c := s.start(config(1), 0), s.start(config(2), 1, 0), s.start(config(3), 2, 0)
		defer closeAll(a, b, c)
		see(t, 10*time.Second, a, b, c)
		time.Sleep(5 * time.Second)
		s.net.CutOneWay(a.host, b.host, true)
		for range 30 {
			time.Sleep(time.Second)
			require.Len(t, c.IDs(), 2, "the third vouches for both by its indirect probes")
		}
	})
}

// A07: killed, and back three seconds later with another address: as the next
// run of the node, which is what really happens, with the old run's name gone.
func TestA07_SameNodeReturnsWithAnotherAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		old := s.start(rotating(3, "run1", "secret", ""), 2, 0)
		defer closeAll(a, b, old)
		see(t, 10*time.Second, a, b, old)
		old.port.Kill()
		_ = old.Close()
		time.Sleep(3 * time.Second)
		back := s.start(rotating(3, "run2", "secret", ""), 9, 0)
		defer closeAll(back)
		took := see(t, 15*time.Second, a, b, back)
		t.Logf("joined after %v", took)
		require.Len(t, a.Members(), 3, "the old run is not listed beside the new one")
		require.Equal(t, "10.0.0.10:7946", a.row(t, back.cfg.Self).Addr.String())
	})
}

// A07: a running member whose DHCP address changes.
func TestA07_AddressChangesWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b, c := s.start(config(1), 0), s.start(config(2), 1, 0), s.start(config(3), 2, 0)
		defer closeAll(a, b, c)
		see(t, 10*time.Second, a, b, c)
		moved := memnet.Host(9)
		s.net.PowerOff(c.host, true) // the old address is dead at once
		require.NoError(t, c.SetAddress(moved.String()))
		took := within(t, 15*time.Second, "everybody knows the new address", func() bool {
			for _, n := range []*node{a, b} {
				if r := n.row(t, id(3)); r.State != Alive || r.Addr.Addr() != moved {
					return false
				}
			}
			return len(c.IDs()) == 2
		})
		t.Logf("known after %v", took)
		require.NoError(t, a.SendBeat([]lease.ID{id(3)}, 1, []byte("x")))
		within(t, time.Second, "a beat arrives there", func() bool { return len(c.rec.gotBeats()) == 1 })
		time.Sleep(30 * time.Second)
		see(t, 0, a, b, c)
		require.ErrorContains(t, c.SetAddress("0.0.0.0"), "GOSSIP_ADVERTISE")
		see(t, 0, a, b, c)
	})
}

// A09: a cloned PC has the node UUID of another one.
func TestA09_ClonesAreBothVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a := s.start(config(1), 0)
		one, two := s.start(rotating(2, "run1", "secret", ""), 1, 0), s.start(rotating(2, "run2", "secret", ""), 2, 0)
		defer closeAll(a, one, two)
		see(t, 10*time.Second, a, one, two)
		require.Equal(t, "10.0.0.2:7946", a.row(t, one.cfg.Self).Addr.String())
		require.Equal(t, "10.0.0.3:7946", a.row(t, two.cfg.Self).Addr.String())
		require.Equal(t, []lease.ID{id(1), two.cfg.Self}, one.up(), "each sees the other, with its address")
		time.Sleep(time.Minute)
		see(t, 0, a, one, two)
	})
}

func TestGossip_RemembersPCsThatAreOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b, c := s.start(config(1), 0), s.start(config(2), 1, 0), s.start(config(3), 2, 0)
		see(t, 10*time.Second, a, b, c)
		require.NoError(t, c.Close())
		see(t, 5*time.Second, a, b)
		seen := a.row(t, id(3)).LastSeen
		stored, err := EncodeRows(a.Members())
		require.NoError(t, err)
		require.NoError(t, a.Close())
		time.Sleep(time.Hour)

		rows, err := DecodeRows(stored)
		require.NoError(t, err)
		again := rotating(1, "later", "secret", "")
		again.Remembered = rows
		a = s.start(again, 0) // knows nobody but from memory
		defer closeAll(a, b, c)
		see(t, 10*time.Second, a, b)
		off := a.row(t, id(3))
		require.Equal(t, Dead, off.State)
		require.Equal(t, "POS-03", off.Meta.Station)
		require.WithinDuration(t, seen, off.LastSeen, time.Second)
		require.Len(t, a.Members(), 3)
	})
}
