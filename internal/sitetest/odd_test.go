package sitetest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/lease"
)

// A second daemon with the same STATE_DIR is refused and names the first; the
// first goes on.
func TestSecondRunIsRefused(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Nodes: 1})
	out, err := exec.CommandContext(s.within(20*time.Second), exe, "run", "--config", n.ConfigPath()).CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	require.Equal(t, 1, exit.ExitCode())
	require.Contains(t, string(out), fmt.Sprintf("pid %d", n.PID()))
	require.Contains(t, string(out), n.StateDir())
	s.stays(n, st.Epoch, time.Second)
}

// A PC with another token never leads while the others live, says whose token
// differs, and does not bother them.
func TestWrongToken(t *testing.T) {
	t.Parallel()
	opt := localsite.Options{Extra: steady(), Adjust: func(i int, keys map[string]string) {
		if i == 2 {
			keys["RELAY_TOKEN"] = "another-token-altogether"
		}
	}}
	s := build(t, opt)
	require.NoError(t, s.Nodes[0].Start())
	require.NoError(t, s.Nodes[1].Start())
	n, st := s.leader(0, 20*time.Second)
	s.roster(1)
	odd := s.Nodes[2]
	require.NoError(t, odd.Start())
	got := s.status(odd, "explains the token and names the other station", func(x localapi.Status) bool {
		return strings.Contains(x.Note, "RELAY_TOKEN differs") && strings.Contains(x.Note, n.Station)
	})
	// All have one address here, so that whose it is cannot be told apart: the
	// tests in namespaces show both sides.
	theirs := s.status(n, "answers", func(localapi.Status) bool { return true }).Token
	differs := fmt.Sprintf("(fingerprint there %s, here %s)", theirs, got.Token)
	s.status(odd, "compares the fingerprints", func(x localapi.Status) bool { return strings.Contains(x.Note, differs) })
	s.logs(odd, differs)
	s.stays(n, st.Epoch, steadyTTL+3*time.Second)
	require.NotContains(t, odd.Log(), "relay started")
	s.member(s.others(n)[0], n, "is untouched", func(m localapi.Member) bool { return m.State == localapi.StateAlive && m.Role == "leader" })
}

// A PC of another site with the same folder waits and says what it sees.
func TestForeignSiteInTheFolder(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Extra: quick(), Adjust: func(i int, keys map[string]string) {
		if i == 2 {
			keys["KMSN"] = "4711"
		}
	}})
	require.NoError(t, s.Nodes[0].Start())
	n, st := s.leader(0, 20*time.Second)
	require.NoError(t, s.Nodes[2].Start())
	got := s.status(s.Nodes[2], "waits", func(x localapi.Status) bool { return x.Role == "client" && strings.Contains(x.Note, "KMSN") })
	require.Contains(t, got.Note, localsite.KMSN)
	require.Contains(t, got.Note, "4711")
	n.PowerCut()
	time.Sleep(2 * quickTTL)
	require.NotContains(t, s.Nodes[2].Log(), "relay started", "a foreign lease is waited for")
	require.NoError(t, n.Start())
	s.leader(st.Epoch, quickTTL+slack)
}

// A record of a newer format that bears the site's MAC makes this build ineligible.
func TestNewerFormatInTheFolder(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 1, Extra: quick()})
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	next := filepath.Join(s.Share, "relay_leader.d", head.Share, fmt.Sprintf("%010d.lock", head.Rev+1))
	body := fmt.Sprintf(`{"v":%d,"share":%q,"kmsn":%q,"station":"POS-99","rev":%d`, lease.Version+1, head.Share, localsite.KMSN, head.Rev+1)
	codec, err := lease.NewCodec(localsite.KMSN, localsite.Token)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(next, codec.Sign([]byte(body)), 0o644))
	require.NoError(t, s.StartAll())
	got := s.status(s.Nodes[0], "is ineligible", func(x localapi.Status) bool { return x.Role == "ineligible" && strings.Contains(x.Note, "version") })
	require.False(t, got.Eligible)
}

// A record that only claims a newer format, as seven bytes can, proves nothing: it
// costs a wait, and nothing of it stays.
func TestHole3_ClaimOfANewerFormat(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Extra: quick()})
	n.PowerCut()
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	next := filepath.Join(s.Share, "relay_leader.d", head.Share, fmt.Sprintf("%010d.lock", head.Rev+20))
	require.NoError(t, os.WriteFile(next, []byte(`{"v":2}`), 0o644))
	s.leader(st.Epoch, 25*time.Second+slack)
}

// A cloned PC: two live runs of one node UUID are both ineligible and both show
// both addresses. Whoever led goes on until there is somebody else. When the
// clone is off, all is well again.
func TestClonedPC(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Extra: quick()})
	first, clone := s.Nodes[0], s.Nodes[1]
	require.NoError(t, first.Start())
	_, st := s.leader(0, 20*time.Second)
	cloneIdentity(t, first, clone)
	require.NoError(t, clone.Start())
	s.status(first, "shows its clone", func(x localapi.Status) bool { return !x.Eligible && showsBoth(x.Note, first, clone) })
	s.status(clone, "shows the original", func(x localapi.Status) bool {
		return x.Role == "ineligible" && !x.Eligible && showsBoth(x.Note, clone, first)
	})
	s.stays(first, st.Epoch, quickTTL)
	require.NoError(t, s.Nodes[2].Start())
	n, _ := s.leader(st.Epoch, quickTTL+2*slack)
	require.Equal(t, s.Nodes[2].Station, n.Station)
	clone.PowerCut()
	s.status(first, "is a client again", func(x localapi.Status) bool { return x.Role == "client" && x.Eligible })
}

// A clone that starts while the original is off leads; when the original comes,
// both keep apart from each other's records.
func TestClonedPCsNeverTakeEachOthersRecordsForTheirOwn(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, Extra: quick()})
	first, clone := s.Nodes[0], s.Nodes[1]
	require.NoError(t, first.Start())
	_, st := s.leader(0, 20*time.Second)
	cloneIdentity(t, first, clone)
	first.PowerCut()
	from := time.Now()
	require.NoError(t, clone.Start())
	n, _ := s.leader(st.Epoch, quickTTL+2*slack)
	require.Equal(t, clone, n)
	require.Greater(t, time.Since(from), quickTTL/2, "a clone has no right to the fast way of a restart")
	require.NotContains(t, clone.Log(), "(same-boot")
}

func cloneIdentity(t *testing.T, from, to *localsite.Node) {
	t.Helper()
	id, err := os.ReadFile(filepath.Join(from.StateDir(), "node"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(to.StateDir(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(to.StateDir(), "node"), id, 0o600))
}

func showsBoth(note string, self, other *localsite.Node) bool {
	return strings.Contains(note, self.Station+" at "+self.Addr) &&
		strings.Contains(note, other.Station+" at "+net.JoinHostPort(other.Addr, strconv.Itoa(other.GossipPort)))
}

// The port of the relay is held by a stranger: this PC is ineligible and names
// it, another one leads.
func TestPortHeldByAStranger(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, Extra: quick()})
	n := s.Nodes[0]
	l, err := net.Listen("tcp", net.JoinHostPort(n.Addr, strconv.Itoa(n.RelayPort+1)))
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, n.Start())
	s.status(n, "names its port and the holder", func(x localapi.Status) bool {
		return x.Role == "ineligible" && strings.Contains(x.Note, strconv.Itoa(n.RelayPort+1)) && strings.Contains(x.Note, strconv.Itoa(os.Getpid()))
	})
	require.NoError(t, s.Nodes[1].Start())
	lead, _ := s.leader(0, 20*time.Second)
	require.Equal(t, s.Nodes[1].Station, lead.Station)
	require.NoError(t, l.Close())
	s.status(n, "is a client once its port is free", func(x localapi.Status) bool { return x.Role == "client" && x.Eligible })
}

// A relay that ends at once again and again is given to somebody whose relay
// works.
func TestRelayThatDoesNotWork(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, Extra: quick(), Adjust: func(i int, keys map[string]string) {
		if i == 0 {
			keys["RELAY_ARGS"] = "standin -shape nonsense"
		}
	}})
	require.NoError(t, s.Nodes[0].Start())
	s.status(s.Nodes[0], "has tried its relay", func(localapi.Status) bool { return strings.Contains(s.Nodes[0].Log(), "nonsense") })
	require.NoError(t, s.Nodes[1].Start())
	n, st := s.leader(0, 40*time.Second)
	require.Equal(t, s.Nodes[1].Station, n.Station)
	s.stays(n, st.Epoch, 3*time.Second)
	require.Contains(t, s.Nodes[0].Log(), "nonsense", "what the relay said is in the log")
}

// A handoff by hand names its successor.
func TestHandoffByHand(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, localsite.Options{Extra: steady()})
	s.roster(2)
	to := s.others(n)[1]
	n, _, epoch := s.handOver(n, to, st.Epoch, func(from *localsite.Node) {
		out, err := exec.CommandContext(s.within(20*time.Second), exe, "handoff", to.Station, "--config", from.ConfigPath()).CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	s.stays(to, epoch, 2*time.Second)
	out, err := exec.CommandContext(s.within(20*time.Second), exe, "leader", "--config", n.ConfigPath()).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, net.JoinHostPort(to.Addr, strconv.Itoa(to.RelayPort))+"\n", string(out))
}
