package sitetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/standin"
)

// Nobody can write the share: the relay goes on while the roster vouches, stops
// at TTL, and comes back when the share returns.
func TestShareLostByAll(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{OwnLinks: true, Extra: steady()})
	s.roster(2)
	for _, x := range s.Nodes {
		require.NoError(t, x.CutShare())
	}
	lost := clock.Boot() // no create was begun later
	before, err := s.Head(t.Context())
	require.NoError(t, err)
	s.stays(n, st.Epoch, steadyFence+300*time.Millisecond) // past FENCE: only vouches keep it
	end := s.dies(st.Epoch, steadyTTL+slack)
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, head.Rev, before.Rev+1, "a renewal under way when the share went")
	require.Less(t, end, lost+steadyTTL+exact, "the relay ran past the TTL of its last record")
	require.Greater(t, end, lost+steadyFence, "the relay did not outlive FENCE")
	s.gone(n, st.Epoch)
	time.Sleep(steadyTTL) // nothing comes without a share
	_, _, err = s.Leader(t.Context())
	require.ErrorIs(t, err, localsite.ErrNoLeader)
	for _, x := range s.Nodes {
		require.NoError(t, x.LinkShare(s.Share))
	}
	next, again := s.leader(st.Epoch, steadyTTL+2*slack)
	s.stays(next, again.Epoch, 2*time.Second)
}

// Only the leader loses the share: it runs until TTL, then somebody who has the
// share takes over, and the old one follows when its share is back.
func TestShareLostByTheLeader(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{OwnLinks: true, Extra: steady()})
	s.roster(2)
	require.NoError(t, n.CutShare())
	lost := clock.Boot()
	s.stays(n, st.Epoch, steadyFence+300*time.Millisecond)
	end := s.dies(st.Epoch, steadyTTL+slack)
	require.Less(t, end, lost+steadyTTL+exact)
	require.Greater(t, end, lost+steadyFence)
	next, again := s.leader(st.Epoch, steadyTTL+2*slack)
	require.NotEqual(t, n.Station, next.Station)
	s.status(n, "says that its share does not answer", func(x localapi.Status) bool { return x.Role != "leader" && x.Share.State != "ok" })
	require.NoError(t, n.LinkShare(s.Share))
	s.status(n, "follows", func(x localapi.Status) bool { return x.Role == "client" && x.Epoch == again.Epoch })
	s.stays(next, again.Epoch, time.Second)
}

// A member that loses the share is no leader's business.
func TestShareLostByAMember(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{OwnLinks: true, Extra: steady()})
	s.roster(2)
	require.NoError(t, s.others(n)[0].CutShare())
	s.stays(n, st.Epoch, steadyTTL+3*time.Second)
}

// Gossip is cut but the share is there: nothing changes. If the leader dies
// then, the others take over after TTL'.
func TestGossipCut(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Switched: true, Extra: steady()})
	s.roster(2)
	s.Switch.CutAll()
	s.stays(n, st.Epoch, steadyTTL+3*time.Second)
	died := clock.Boot()
	n.PowerCut()
	next, again := s.leader(st.Epoch, steadyTTL+2*time.Second+slack)
	after := s.life(again.Epoch).First - died
	t.Logf("new relay %v after the leader died", after.Round(time.Millisecond))
	require.Greater(t, after, steadyFence, "without gossip nobody may be that fast")
	s.logs(next, "(ttl") // taken by the slow way
	s.Switch.Heal()
	s.stays(next, again.Epoch, 2*time.Second)
}

// Gossip and the leader's share are cut at the same instant: it is fenced
// within FENCE, and the others take over at once.
func TestGossipAndShareCutAtOnce(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Switched: true, OwnLinks: true, Extra: steady()})
	s.roster(2)
	s.Switch.Isolate(s.index(n))
	require.NoError(t, n.CutShare())
	cut := clock.Boot()
	end := s.dies(st.Epoch, steadyFence+slack)
	require.Less(t, end, cut+steadyFence+exact, "the relay ran past the fence")
	next, again := s.leader(st.Epoch, steadyFence+slack)
	require.Equal(t, "fence", s.took(next, again.Epoch), "at once, not after TTL")
	t.Logf("fenced %v and replaced %v after the cut", (end - cut).Round(time.Millisecond), (s.life(again.Epoch).Listening - cut).Round(time.Millisecond))
	require.NotEqual(t, n.Station, next.Station)
	s.Switch.Heal()
	require.NoError(t, n.LinkShare(s.Share))
	s.status(n, "follows", func(x localapi.Status) bool { return x.Role == "client" && x.Epoch == again.Epoch })
	s.stays(next, again.Epoch, 2*time.Second)
}

// A roster member is cut off from the leader alone, in one direction only, and
// the other way round: no takeover, it merely leaves the roster.
func TestOneWayCut(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(w *localsite.Switch, leader, other int){
		"beats lost":   func(w *localsite.Switch, l, o int) { w.CutOneWay(l, o) },
		"vouches lost": func(w *localsite.Switch, l, o int) { w.CutOneWay(o, l) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n, st := start(t, localsite.Options{Switched: true, Extra: steady()})
			s.roster(2)
			cut(s.Switch, s.index(n), s.index(s.others(n)[0]))
			s.stays(n, st.Epoch, steadyTTL+3*time.Second)
			r, err := s.Head(t.Context())
			require.NoError(t, err)
			require.Less(t, len(r.Roster), 2)
			s.Switch.Heal()
			s.roster(2)
			s.stays(n, st.Epoch, time.Second)
		})
	}
}

// The share is missing when the PCs start and appears later.
func TestShareMissingAtStart(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, Extra: quick()})
	away := s.Share + ".away"
	require.NoError(t, os.Rename(s.Share, away))
	require.NoError(t, s.StartAll())
	for _, n := range s.Nodes {
		s.status(n, "says that the share is not there", func(x localapi.Status) bool {
			return x.Role != "leader" && x.Share.State != "ok" && x.Share.LastOKMS == -1
		})
	}
	time.Sleep(quickTTL)
	_, err := os.Stat(s.Share)
	require.ErrorIs(t, err, os.ErrNotExist, "nobody may create LEASE_DIR")
	lives, err := s.Lives()
	require.NoError(t, err)
	require.Empty(t, lives, "a relay without a lease")
	require.NoError(t, os.Rename(away, s.Share))
	n, st := s.leader(0, slack+5*time.Second)
	s.stays(n, st.Epoch, time.Second)
}

// Two folders: among live members the lowest share id wins, and whoever is on
// the other says so.
func TestTwoFolders(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{OwnLinks: true, Extra: quick()})
	s.mayOverlap = 2 * time.Second
	first, err := s.Head(t.Context())
	require.NoError(t, err)
	second := s.Dir + "/second"
	require.NoError(t, os.Mkdir(second, 0o755))
	id, err := localsite.Found(second)
	require.NoError(t, err)
	require.NoError(t, s.Nodes[2].LinkShare(second))
	require.NoError(t, s.StartAll())

	right, wrong := s.Nodes[:2], s.Nodes[2:]
	if id < first.Share {
		right, wrong = wrong, right
	}
	for _, n := range wrong {
		s.status(n, "is ineligible for being on another share", func(x localapi.Status) bool {
			return x.Role == "ineligible" && !x.Eligible && strings.Contains(x.Note, "share")
		})
		s.member(right[0], n, "explained on the right share", func(m localapi.Member) bool {
			return m.Role == "ineligible" && strings.Contains(m.Note, "share")
		})
	}
	for _, n := range wrong {
		s.until(slack, "no relay runs on the other share", func() error { return s.noRelay(n) })
	}
	leader, st := s.leader(0, slack*2)
	require.Contains(t, names(right), leader.Station)
	s.stays(leader, st.Epoch, 2*quickTTL)
	for _, n := range wrong {
		require.NoError(t, s.noRelay(n), "a relay runs on the other share again")
		s.status(n, "is still ineligible", func(x localapi.Status) bool { return x.Role == "ineligible" })
	}
}

// One stray file far above the chain, and a PC that starts without a LAN: it reads
// down to a record that it can verify, and follows.
func TestHole1_StrayFileAndAColdStart(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Switched: true, Extra: steady()})
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	for _, rev := range []uint64{5000, 9999999998} {
		name := filepath.Join(s.Share, "relay_leader.d", head.Share, fmt.Sprintf("%010d.lock", rev))
		require.NoError(t, os.WriteFile(name, []byte("0123456789"), 0o644))
	}
	cold := s.others(n)[0]
	cold.PowerCut()
	s.Switch.Isolate(s.index(cold))
	require.NoError(t, cold.Start())
	s.stays(n, st.Epoch, 26*time.Second) // past TTL_MAX'
	require.NotContains(t, cold.Log(), "took the lease: record 5001")
	require.Contains(t, cold.Log(), "ignoring 9999999998 in the chain")
}

// noRelay returns an error if a process lives that a relay of n wrote into its life log.
func (s *site) noRelay(n *localsite.Node) error {
	lives, err := standin.ReadLife(n.LifeLog())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, l := range lives {
		for _, pid := range l.PIDs {
			if err := notRelay(pid); err != nil {
				return err
			}
		}
	}
	return nil
}

func names(nodes []*localsite.Node) (out []string) {
	for _, n := range nodes {
		out = append(out, n.Station)
	}
	return out
}

func (s *site) index(n *localsite.Node) int {
	for i, x := range s.Nodes {
		if x == n {
			return i
		}
	}
	return -1
}
