//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/testkit/viewread"
	"github.com/convertfw/floatrelay/lease"
)

// The bounds of the protocol at the defaults, with room for a busy machine.
const (
	fast = 4 * time.Second  // the roster's path: FENCE'
	slow = 16 * time.Second // the outsiders' path: TTL'
)

var scenarios = []scenario{
	{name: "leader host cut from everything", limit: fast, run: func(s *site) outcome {
		l := s.leader()
		mark := clock.Boot()
		s.lan.CutAll(l.port)
		return s.recovers(mark)
	}},
	// A pause of FENCE/2 empties the roster; on a busy machine that is ordinary,
	// and then only the slow path is left.
	{name: "leader host cut from everything, FENCE=350ms BEAT=70ms", limit: slow,
		extra: map[string]string{"LEASE_FENCE": "350ms", "LEASE_BEAT": "70ms"},
		run: func(s *site) outcome {
			l := s.leader()
			mark := clock.Boot()
			s.lan.CutAll(l.port)
			return s.recovers(mark)
		}},
	{name: "leader host cut from the share only, until another leads", limit: slow, run: func(s *site) outcome {
		l := s.leader()
		mark := clock.Boot()
		s.lan.CutShare(l.port)
		return s.recovers(mark)
	}},
	{name: "leader host cut from the share for 5 s", run: func(s *site) outcome {
		l := s.leader()
		s.lan.CutShare(l.port)
		return s.keeps(l, 5*time.Second, s.lan.Heal)
	}},
	{name: "leader host cut from the other PCs only, 6 s", run: func(s *site) outcome {
		l := s.leader()
		s.lan.CutPeers(l.port)
		return s.keeps(l, 6*time.Second, s.lan.Heal)
	}},
	{name: "what the leader sends to PCs is lost, 6 s", run: func(s *site) outcome {
		l := s.leader()
		s.lan.OneWay(l.port, ports(s.others(l))...)
		return s.keeps(l, 6*time.Second, s.lan.Heal)
	}},
	{name: "what PCs send to the leader is lost, 6 s", run: func(s *site) outcome {
		l := s.leader()
		s.lan.OneWayTo(l.port, ports(s.others(l))...)
		return s.keeps(l, 6*time.Second, s.lan.Heal)
	}},
	{name: "UDP blocked, TCP open, 6 s", run: func(s *site) outcome {
		l := s.leader()
		s.lan.BlockUDP()
		return s.keeps(l, 6*time.Second, s.lan.Heal)
	}},
	{name: "share stalls for 5 s", run: func(s *site) outcome {
		s.server.Freeze()
		return s.keeps(s.leader(), 5*time.Second, s.server.Resume)
	}},
	{name: "share server stopped for 1 s", run: serverStopped(time.Second)},
	{name: "share server stopped for 5 s", run: serverStopped(5 * time.Second)},
	{name: "share server stopped for 30 s (from its return)", limit: slow, run: func(s *site) outcome {
		s.server.Stop()
		time.Sleep(30 * time.Second)
		require.Empty(s.t, s.living(), "a relay outlived TTL without the share")
		mark := clock.Boot()
		s.server.Run(s.t)
		return s.recovers(mark)
	}},
	{name: "share server restarted", run: func(s *site) outcome {
		l := s.leader()
		s.server.Stop()
		s.server.Run(s.t)
		return s.keeps(l, time.Second, func() {})
	}},
	{name: "connections to the share reset", run: func(s *site) outcome {
		l := s.leader()
		s.server.ResetConnections()
		return s.keeps(l, time.Second, func() {})
	}},
	{name: "whole switch down for 5 s (from its return)", limit: slow, run: func(s *site) outcome {
		all := append(ports(s.pcs), "server")
		s.lan.Down(all...)
		time.Sleep(5 * time.Second)
		require.Empty(s.t, s.living(), "a relay outlived FENCE without share and members")
		mark := clock.Boot()
		s.lan.Up(all...)
		return s.recovers(mark)
	}},
	{name: "split two-two, leader without the share", limit: fast, run: func(s *site) outcome {
		l := s.leader()
		mark := clock.Boot()
		s.lan.Split(l.port, s.others(l)[0].port)
		return s.recovers(mark)
	}},
	{name: "split two-two, leader with the share, 6 s", run: func(s *site) outcome {
		l := s.leader()
		s.lan.Split(ports(s.others(l)[:2])...)
		return s.keeps(l, 6*time.Second, s.lan.Heal)
	}},
	{name: "leader's daemon frozen for 5 s", limit: fast, run: func(s *site) outcome {
		l := s.leader()
		mark := clock.Boot()
		l.FreezeDaemon()
		o := s.recovers(mark)
		time.Sleep(mark + 5*time.Second - clock.Boot())
		l.ResumeDaemon()
		time.Sleep(time.Second)
		return o
	}},
	{name: "all processes of the leader frozen for 5 s", limit: fast, frozen: true, run: func(s *site) outcome {
		l := s.leader()
		mark := clock.Boot()
		pids := l.FreezeAll()
		o := s.recovers(mark)
		time.Sleep(mark + 5*time.Second - clock.Boot())
		l.ResumeAll(pids)
		time.Sleep(time.Second)
		return o
	}},
	{name: "leader's daemon killed", limit: fast, run: func(s *site) outcome {
		l := s.leader()
		mark := clock.Boot()
		l.KillDaemon()
		o := s.recovers(mark)
		l.Start()
		return o
	}},
	{name: "leader gets another address (until it is published)", limit: slow, run: readdressed},
	{name: "rolling restart (longest time without a relay)", limit: fast, run: rollingRestart},
	{name: "7 PCs at once after a power cut (from their start)", pcs: 7, limit: 2 * slow, run: powerCut},
	{name: "folder wiped while running", limit: 60 * time.Second, run: wiped},
}

func serverStopped(lasts time.Duration) func(*site) outcome {
	return func(s *site) outcome {
		l := s.leader()
		s.server.Stop()
		return s.keeps(l, lasts, func() { s.server.Run(s.t) })
	}
}

// readdressed measures until clients are told where the relay is now.
func readdressed(s *site) outcome {
	l := s.leader()
	mark := clock.Boot()
	l.Readdress(netPrefix + "99")
	s.await(60*time.Second, "no reachable relay is published", func() bool {
		b, err := os.ReadFile(filepath.Join(s.folder(), lease.ViewName))
		if err != nil {
			return false
		}
		v, err := viewread.Parse(b)
		if err != nil {
			return false
		}
		for _, p := range s.pcs {
			at, lives := lastBeat(p.lifeLog())
			if lives && clock.Boot()-at < 100*time.Millisecond && v.Station == p.station && v.IP == p.ip {
				return true
			}
		}
		return false
	})
	return outcome{recovery: clock.Boot() - mark}
}

// rollingRestart restarts every daemon in turn, as an update does.
func rollingRestart(s *site) outcome {
	mark := clock.Boot()
	for _, p := range s.pcs {
		p.Stop()
		p.Start()
		s.settle()
	}
	return outcome{recovery: s.longestGap(mark)}
}

// powerCut ends all PCs at once. New cards make it another boot, as it would
// be: nobody can know that his own relay did not survive.
func powerCut(s *site) outcome {
	for _, p := range s.pcs {
		for _, id := range procs.Tree(p.pid()) {
			_ = procs.Freeze(id)
		}
	}
	for i, p := range s.pcs {
		p.PowerCut()
		p.NewCard(fmt.Sprintf("02:00:00:00:01:%02x", i+1))
	}
	mark := clock.Boot()
	for _, p := range s.pcs {
		p.Start()
	}
	return s.recovers(mark)
}

// wiped measures how long the site is without a relay when somebody empties
// the folder.
func wiped(s *site) outcome {
	mark := clock.Boot()
	s.await(5*time.Second, "the folder cannot be emptied", s.emptied) // records may be created meanwhile
	s.await(90*time.Second, "no new chain", func() bool {
		r, ok := s.head()
		return ok && r.State == lease.Held && s.living() == r.Station
	})
	return outcome{recovery: s.longestGap(mark)}
}

// emptied removes what is in the folder and reports whether nothing is left.
func (s *site) emptied() bool {
	entries, err := os.ReadDir(s.folder())
	require.NoError(s.t, err)
	for _, e := range entries {
		if os.RemoveAll(filepath.Join(s.folder(), e.Name())) != nil {
			return false
		}
	}
	return true
}
