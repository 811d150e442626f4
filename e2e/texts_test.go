//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/internal/testkit/viewread"
	"github.com/convertfw/floatrelay/lease"
)

// notes are what a PC says of itself in status and in members.
func (p *pc) notes() (status, members string) {
	var m localapi.Members
	_ = p.cli(&m, "members", "--json")
	for _, row := range m.Members {
		if row.ID == m.Self {
			members = row.Note
		}
	}
	return p.status().Note, members
}

// saysToken is says for a token that differs: the log names each PC in a line
// of its own, the notes name all in one.
func (p *pc) saysToken(of *pc, there, here string) {
	p.s.t.Helper()
	p.s.await(30*time.Second, p.station+" does not say whose token differs", func() bool {
		status, members := p.notes()
		for _, text := range []string{"RELAY_TOKEN", of.station, there, "here " + here} {
			if !strings.Contains(status, text) || !strings.Contains(members, text) {
				return false
			}
		}
		return true
	})
	text := fmt.Sprintf("RELAY_TOKEN differs from that of %s at %s (fingerprint there %s, here %s)", of.station, of.ip, there, here)
	log, err := os.ReadFile(p.logPath())
	require.NoError(p.s.t, err)
	require.Equal(p.s.t, 1, strings.Count(string(log), text), "%s", log)
}

// Row A13: a PC with another token says whose differs, with both fingerprints,
// and so do the others of it; nobody is disturbed, and all is well once it has
// the right one.
func TestCaseA13_WrongToken(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3, nil)
	l := s.leader()
	odd := s.others(l)[0]
	right := l.status().Token
	before, _ := s.head()
	odd.Stop()
	odd.configure(map[string]string{"RELAY_TOKEN": "typo-in-the-token-of-this-pc"})
	odd.Start()
	s.await(20*time.Second, "the odd one does not answer", func() bool { return odd.status().Token != "" })
	wrong := odd.status().Token
	for _, p := range s.others(odd) {
		odd.saysToken(p, right, wrong)
		p.saysToken(odd, wrong, right)
	}
	require.Equal(t, l, s.leader())
	after, _ := s.head()
	require.Equal(t, before.Epoch, after.Epoch)

	odd.Stop()
	odd.configure(nil)
	odd.Start()
	s.settle()
	for _, p := range s.pcs {
		s.await(20*time.Second, p.station+" still finds a token odd", func() bool {
			status, members := p.notes()
			return !strings.Contains(status+members, "RELAY_TOKEN")
		})
	}
	require.Zero(t, s.bothRan(false))
}

// small is a disk of 512 kB.
func small(t testing.TB) func(folder string) {
	return func(folder string) {
		run(t, "mount", "-t", "tmpfs", "-o", "size=512k,mode=0777", "tmpfs", folder)
		t.Cleanup(func() { _ = exec.Command("umount", "-l", folder).Run() })
	}
}

func (s *site) stuffing() string { return filepath.Join(s.server.Folder, "somebody's film.mp4") }

// fill leaves no byte on the disk of the share, free makes room again.
func (s *site) fill() { sharetest.Fill(s.t, s.stuffing()) }
func (s *site) free() { require.NoError(s.t, os.Remove(s.stuffing())) }

// A share that is full for a few seconds costs nobody the lease: the old view
// stays whole, the reason is said with what to do, and all goes on by itself.
func TestCaseF_FullShareForAMoment(t *testing.T) {
	t.Parallel()
	s := newSiteOn(t, 2, nil, small(t))
	l := s.leader()
	before, _ := s.head()
	view, err := os.ReadFile(filepath.Join(s.folder(), lease.ViewName))
	require.NoError(t, err)
	s.fill()
	s.await(8*time.Second, "status does not say that the share is full", func() bool {
		return strings.HasPrefix(l.status().Share.State, "full; no space left in "+s.url)
	})
	now, err := os.ReadFile(filepath.Join(s.folder(), lease.ViewName))
	require.NoError(t, err)
	require.NotEmpty(t, now)
	_, err = viewread.Parse(now)
	require.NoError(t, err, "the view is whole, before: %s, now: %s", view, now)
	require.Equal(t, l, s.leader(), "the relay goes on while the roster vouches")
	s.free()
	s.await(15*time.Second, "status still finds the share full", func() bool { return l.status().Share.State == "ok" })
	s.settle()
	after, _ := s.head()
	require.Equal(t, before.Epoch, after.Epoch, "leadership is unaffected")
	log, err := os.ReadFile(l.logPath())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(log), "share full: no space left in "+s.url+": free some on the file server"))
	require.Contains(t, string(log), "the share has space again")
	require.Zero(t, s.bothRan(false))
}

// A share that stays full ends the relay within TTL, as nobody could take over
// otherwise; the doctor says why, and room is all that is needed.
func TestCaseF_FullShareForLong(t *testing.T) {
	t.Parallel()
	s := newSiteOn(t, 2, nil, small(t))
	l := s.leader()
	before, _ := s.head()
	s.fill()
	s.await(before.TTL+5*time.Second, "the relay runs on without records", func() bool { return s.living() == "" })
	cmd := exec.Command("ip", "netns", "exec", l.ns, *exe, "--config", l.dir+"/stk.ini", "doctor")
	cmd.Env = append(os.Environ(), passwordEnv)
	b, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(b), "share full: no space left in "+s.url)
	require.Contains(t, string(b), "free some space on the file server")
	s.free()
	s.settle()
	require.Zero(t, s.bothRan(false))
}
