//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/clock"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
)

// cli runs the command line on the PC and reads its JSON.
func (p *pc) cli(into any, args ...string) error {
	args = append([]string{"netns", "exec", p.ns, *exe, "--config", p.dir + "/stk.ini"}, args...)
	b, err := exec.Command("ip", args...).Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

func (p *pc) status() (st localapi.Status) {
	_ = p.cli(&st, "status", "--json")
	return st
}

// A host with more cards than the LAN's tells the others the LAN's address.
func TestCase_AddressAmongOtherCards(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, nil)
	p := s.others(s.leader())[0]
	p.Stop()
	for _, c := range []struct{ name, addr string }{
		{"docker0", "172.17.0.1/16"}, {"tun0", "10.8.0.2/24"}, {"vEthernet", "172.28.0.1/20"},
	} {
		run(t, "ip", "-n", p.ns, "link", "add", c.name, "type", "bridge")
		run(t, "ip", "-n", p.ns, "addr", "add", c.addr, "dev", c.name)
		run(t, "ip", "-n", p.ns, "link", "set", c.name, "up")
	}
	p.Start()
	s.settle()
	require.Equal(t, p.ip, s.addressOf(p))
}

// A card without any IPv4 address besides the LAN's changes nothing.
func TestCase_LinkLocalIPv6(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, nil)
	for _, p := range s.pcs {
		require.Equal(t, p.ip, s.addressOf(p))
		b, err := exec.Command("ip", "-n", p.ns, "-6", "addr", "show", "dev", "eth0").Output()
		require.NoError(t, err)
		require.Contains(t, string(b), "fe80::", "the card has a link-local address that must not be told")
	}
}

// addressOf is where the others of a site are told that p is.
func (s *site) addressOf(p *pc) string {
	s.t.Helper()
	l, err := s.chain.List(s.t.Context())
	require.NoError(s.t, err)
	var found string
	s.await(30*time.Second, "no file of "+p.station, func() bool {
		members, _, err := s.chain.ListMembers(s.t.Context(), l.Share)
		for _, m := range members {
			if err == nil && m.Station == p.station && len(m.Addrs) == 1 {
				found = m.Addrs[0]
			}
		}
		return found != ""
	})
	return found
}

// A PC that lost its power comes back under another address and is known again
// soon, without a conflict.
func TestCase_BackUnderAnotherAddress(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3, nil)
	l := s.leader()
	p := s.others(l)[0]
	p.PowerCut()
	p.Readdress(netPrefix + "98")
	time.Sleep(3 * time.Second)
	mark := time.Now()
	p.Start()
	s.await(15*time.Second, "the others do not know the new address", func() bool {
		var m localapi.Members
		if l.cli(&m, "members", "--json") != nil {
			return false
		}
		for _, row := range m.Members {
			if row.Station == p.station && row.State == "alive" && strings.HasPrefix(row.Addr, p.ip+":") {
				return true
			}
		}
		return false
	})
	t.Logf("known again after %v", time.Since(mark).Round(10*time.Millisecond))
	require.Equal(t, l, s.leader(), "the leader had nothing to do with it")
	require.Zero(t, s.bothRan(false))
}

// The old leader comes back to the share after another took over: it follows,
// and writes nothing over the new one's records.
func TestCase_BackToTheShare(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3, nil)
	old := s.leader()
	mark := clock.Boot()
	s.lan.CutShare(old.port)
	s.recovers(mark)
	first, ok := s.head()
	require.True(t, ok)
	s.lan.Heal()
	s.settle()
	l, err := s.chain.List(t.Context())
	require.NoError(t, err)
	for _, rev := range l.Revs {
		if rev < first.Rev {
			continue
		}
		body, err := s.chain.Read(t.Context(), l.Share, rev)
		require.NoError(t, err)
		require.NotEqual(t, old.station, s.codec.Open(l.Share, rev, body).Record.Station)
	}
	require.Zero(t, s.bothRan(false))
	s.await(10*time.Second, "the old leader does not follow", func() bool { return old.status().Role == "client" })
}

// A frozen PC with nobody else there: it ends its relay when it wakes, reads,
// and takes the lease again as a new tenure.
func TestCase_FrozenAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, 1, nil)
	p := s.pcs[0]
	before, _ := s.head()
	pids := p.FreezeAll()
	time.Sleep(before.TTL + 2*time.Second)
	mark := clock.Boot()
	p.ResumeAll(pids)
	o := s.recovers(mark)
	after, _ := s.head()
	require.Greater(t, after.Epoch, before.Epoch, "an expired tenure must not go on")
	require.Zero(t, s.bothRan(false))
	t.Logf("relay back %v after waking", o.recovery)
}

// A share that may only be read is named as such within 10 s, and no relay runs.
func TestCase_NoWriteAccess(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, nil)
	for _, p := range s.pcs {
		p.Stop()
	}
	before := len(s.lives())
	p := s.pcs[0]
	p.configure(map[string]string{"LEASE_DIR": sambatest.URL(serverIP, sambatest.ReadOnly, "socket")})
	p.Start()
	s.await(10*time.Second, "status does not name the cause", func() bool {
		st := p.status()
		return !st.Eligible && strings.Contains(st.Note, "no write access")
	})
	time.Sleep(2 * time.Second)
	require.Len(t, s.lives(), before)
}

// A folder that is not there is no folder without a lease.
func TestCase_FolderMissing(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, nil)
	for _, p := range s.pcs {
		p.Stop()
	}
	before := len(s.lives())
	p := s.pcs[0]
	p.configure(map[string]string{"LEASE_DIR": s.server.URL("nowhere")})
	p.Start()
	time.Sleep(5 * time.Second)
	st := p.status()
	require.Equal(t, "ineligible", st.Role)
	require.Len(t, s.lives(), before)
	require.NoDirExists(t, s.server.Folder+"/nowhere", "the folder is never created")
}

// The epoch goes on over a folder that was lost.
func TestCase_EpochSurvivesTheFolder(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, nil)
	before, _ := s.head()
	wiped(s)
	s.settle()
	after, _ := s.head()
	require.Greater(t, after.Epoch, before.Epoch)
	require.Greater(t, after.Rev, before.Rev)
	require.NotEqual(t, before.Share, after.Share)
	require.Zero(t, s.bothRan(false))
}

// The password is in no log and no file but stk.ini.
func TestCase_PasswordStaysSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, nil)
	for _, p := range s.pcs {
		b, err := os.ReadFile(p.logPath())
		require.NoError(t, err)
		require.NotContains(t, string(b), sambatest.Password)
		require.NotContains(t, p.commandLines(t), sambatest.Password)
	}
}

// commandLines are the arguments of all processes of the PC.
func (p *pc) commandLines(t *testing.T) (all string) {
	t.Helper()
	b, err := exec.Command("ip", "netns", "pids", p.ns).Output()
	require.NoError(t, err)
	for _, id := range strings.Fields(string(b)) {
		line, _ := os.ReadFile("/proc/" + id + "/cmdline")
		all += string(line)
	}
	require.Contains(t, all, "run")
	return all
}

// The doctor finds nothing wrong with a healthy site on an smb:// share, and
// says so within 15 s.
func TestCase_DoctorOnSMB(t *testing.T) {
	t.Parallel()
	s := newSite(t, 2, nil)
	for _, p := range s.pcs {
		begin := time.Now()
		cmd := exec.Command("ip", "netns", "exec", p.ns, *exe, "--config", p.dir+"/stk.ini", "doctor")
		cmd.Env = append(os.Environ(), passwordEnv)
		b, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", b)
		require.Less(t, time.Since(begin), 15*time.Second)
		require.NotContains(t, string(b), sambatest.Password)
		t.Logf("%s", b)
	}
}
