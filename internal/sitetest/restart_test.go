package sitetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
)

// All daemons stopped in an orderly way and started again: there is a leader
// soon, because the last one gave the lease back.
func TestWholeSiteStoppedAndStarted(t *testing.T) {
	t.Parallel()
	s, _, st := start(t, localsite.Options{})
	for _, n := range s.Nodes {
		require.NoError(t, n.Stop(s.within(2*slack)))
	}
	r, err := s.Head(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, "released", r.State, "the last one to go gives the lease back")
	from := time.Now()
	require.NoError(t, s.StartAll())
	n, again := s.leader(max(st.Epoch, r.Epoch), time.Second+slack)
	require.Equal(t, "released", s.took(n, again.Epoch), "nothing was waited for")
	t.Logf("a leader %v after the start, epoch %d", time.Since(from).Round(time.Millisecond), again.Epoch)
}

// All killed and started: exactly one relay within TTL' + 2 s.
func TestWholeSiteKilledAndStarted(t *testing.T) {
	t.Parallel()
	s, _, st := start(t, localsite.Options{Extra: quick()})
	s.roster(2)
	for _, n := range s.Nodes { // frozen first, so that nobody has time to take over
		for _, pid := range procs.Tree(n.PID()) {
			_ = procs.Freeze(pid)
		}
	}
	for _, n := range s.Nodes {
		n.PowerCut()
	}
	from := time.Now()
	require.NoError(t, s.StartAll())
	n, again := s.leader(st.Epoch, quickTTL+2*time.Second+slack)
	t.Logf("a leader %v after the start", time.Since(from).Round(time.Millisecond))
	require.Contains(t, []string{"same-boot", "ttl", "released"}, s.took(n, again.Epoch), "TTL_MAX was not waited for")
	s.stays(n, again.Epoch, 3*time.Second)
}

// A single node killed and restarted at once has its relay back soon: nobody
// else can have it, and guard.lock proves that the old relay is gone.
func TestSingleNodeKilledAndRestarted(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(*localsite.Node){
		"the daemon": (*localsite.Node).KillDaemon, "everything": (*localsite.Node).PowerCut,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, n, st := start(t, localsite.Options{Nodes: 1})
			kill(n)
			from := time.Now()
			require.NoError(t, n.Start())
			n, again := s.leader(st.Epoch, 2*time.Second+slack)
			require.Contains(t, []string{"same-boot", "released"}, s.took(n, again.Epoch), "nothing was waited for")
			t.Logf("a relay %v after the restart", time.Since(from).Round(time.Millisecond))
		})
	}
}

// A first installation has no chain: one is founded after TTL_MAX', because a
// leader that nobody can see might have it.
func TestFirstInstallation(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, NoChain: true})
	from := time.Now()
	require.NoError(t, s.StartAll())
	n, st := s.leader(0, 25*time.Second+2*slack)
	require.Greater(t, time.Since(from), 20*time.Second)
	s.stays(n, st.Epoch, 2*time.Second)
}

// PCs that are off stay listed, on those that run and on those that start.
func TestMembersThatAreOffStayListed(t *testing.T) {
	t.Parallel()
	s, n, _ := start(t, localsite.Options{})
	s.roster(2)
	gone, asked := s.others(n)[0], s.others(n)[1]
	time.Sleep(6 * time.Second) // the table is saved every 5 s
	require.NoError(t, gone.Stop(s.within(2*slack)))
	s.member(asked, gone, "is listed as gone", func(m localapi.Member) bool {
		return m.State == localapi.StateLeft && m.Role == "" && m.Note != ""
	})
	s.until(slack, "it is remembered", func() error {
		b, err := os.ReadFile(filepath.Join(asked.StateDir(), "members.json"))
		if err == nil && !strings.Contains(string(b), gone.Station) {
			err = errNotYet
		}
		return err
	})
	require.NoError(t, asked.Stop(s.within(2*slack)))
	require.NoError(t, asked.Start())
	m := s.member(asked, gone, "is still listed after a restart", func(m localapi.Member) bool { return m.Off() })
	require.Contains(t, m.Note, "last seen ")
	require.NoError(t, gone.Start())
	s.member(asked, gone, "is back", func(m localapi.Member) bool { return m.State == localapi.StateAlive && m.Role == "client" })
}
