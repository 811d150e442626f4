package gossip

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

func TestGossip_MembersJoinAndCarryMeta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b, c := s.start(config(1), 0), s.start(config(2), 1, 0), s.start(config(3), 2, 1)
		defer closeAll(a, b, c)
		see(t, 5*time.Second, a, b, c)
		require.Equal(t, []lease.ID{id(2), id(3)}, a.up())
		r := a.row(t, id(3))
		require.Equal(t, "POS-03", r.Meta.Station)
		require.True(t, r.Meta.Eligible)
		require.Equal(t, "10.0.0.3:7946", r.Addr.String())
		require.True(t, a.Members()[0].Self)
		within(t, 5*time.Second, "round trips are measured", func() bool {
			return a.row(t, id(2)).RTT > 0 && a.row(t, id(3)).RTT > 0
		})
		require.Zero(t, a.Health())
	})
}

func TestGossip_DeadHostIsDetected(t *testing.T) {
	for _, n := range []int{2, 3, 7} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t)
				var nodes []*node
				for i := range n {
					nodes = append(nodes, s.start(config(i), i, 0))
				}
				defer closeAll(nodes...)
				see(t, 10*time.Second, nodes...)
				time.Sleep(10 * time.Second)
				victim, rest := nodes[n-1], nodes[:n-1]
				s.net.PowerOff(victim.host, true)
				took := see(t, 4*time.Second, rest...)
				t.Logf("%d members: detected after %v", n, took)
				r := rest[0].row(t, victim.cfg.Self)
				require.Equal(t, Dead, r.State)
				require.WithinDuration(t, time.Now(), r.LastSeen, time.Second)
			})
		})
	}
}

func TestGossip_SuspectIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		s.net.PowerOff(b.host, true)
		within(t, 2*time.Second, "b is suspect", func() bool { return a.row(t, id(2)).State == Suspect })
		require.Equal(t, []lease.ID{id(2)}, a.up(), "a suspect still counts as alive")
		s.net.PowerOff(b.host, false)
		within(t, 2*time.Second, "b is alive", func() bool { return a.row(t, id(2)).State == Alive })
	})
}

func TestGossip_LeaveIsNotDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b, c := s.start(config(1), 0), s.start(config(2), 1, 0), s.start(config(3), 2, 0)
		defer closeAll(a, b, c)
		see(t, 5*time.Second, a, b, c)
		require.NoError(t, c.Leave(2*time.Second))
		require.NoError(t, c.Leave(2*time.Second), "a second goodbye does nothing")
		require.NoError(t, c.Close())
		require.NoError(t, c.Close())
		require.NoError(t, c.Leave(time.Second), "memberlist panics here")
		see(t, time.Second, a, b)
		require.Equal(t, Left, a.row(t, id(3)).State)
		require.Equal(t, Left, b.row(t, id(3)).State)
		time.Sleep(time.Minute)
		require.Equal(t, Left, a.row(t, id(3)).State, "still listed long after")
	})
}

func TestGossip_MessagesArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		body := make([]byte, lease.MaxBody)
		require.NoError(t, a.SendBeat([]lease.ID{id(2)}, 7, body))
		require.NoError(t, b.SendVouch(id(1), id(1).Run, 7))
		require.NoError(t, b.SendHead(id(1), []byte("head"), false))
		require.NoError(t, b.SendHead(id(1), []byte("release"), true))
		time.Sleep(time.Second)
		require.Equal(t, []message{{From: id(1), Num: 7, Body: body}}, b.rec.gotBeats())
		require.Equal(t, []message{{From: id(2), Run: id(1).Run, Num: 7}}, a.rec.gotVouches())
		require.Len(t, a.rec.gotHeads(), 3, "the reliable one travels both ways")
	})
}

func TestGossip_SendRefusesWhatCannotTravel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		require.ErrorContains(t, a.SendBeat([]lease.ID{id(2)}, 1, make([]byte, lease.MaxBody+1)), "above 1000")
		require.ErrorIs(t, a.SendBeat([]lease.ID{id(9), id(2)}, 2, []byte("x")), errNoMember)
		time.Sleep(time.Second)
		require.Len(t, b.rec.gotBeats(), 1, "the known member was sent to all the same")
		require.NoError(t, a.Close())
		require.ErrorIs(t, a.SendBeat([]lease.ID{id(2)}, 3, []byte("x")), ErrClosed)
		require.Error(t, a.SendHead(id(2), []byte("x"), true))
		a.SetMeta(Meta{})
		a.Watch(id(2))
		_, err := a.Join([]string{"10.0.0.2"})
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, a.SetAddress("10.0.0.9"), ErrClosed)
	})
}
