package doctor

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

// noEars hears nothing.
type noEars struct{}

func (noEars) Beat(lease.ID, uint64, []byte)  {}
func (noEars) Vouch(lease.ID, string, uint64) {}
func (noEars) Head(lease.ID, []byte)          {}
func (noEars) LeaderGone(lease.ID)            {}
func (noEars) Members()                       {}

var posTwo = lease.ID{Node: "00000000-0000-4000-8000-000000000002", Run: "00000000000a"}

// pos02 runs a member at 127.0.0.2 and writes its file to the share in dir.
func pos02(t *testing.T, dir, kmsn, token string) (at netip.AddrPort) {
	t.Helper()
	g, err := gossip.New(gossip.Config{
		Self: posTwo, KMSN: kmsn, Token: token, BindAddr: "127.0.0.2", AdvertiseAddr: "127.0.0.2", Meta: gossip.Meta{Station: "POS-02"},
	}, noEars{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	writeMember(t, dir, posTwo, "POS-02", "127.0.0.2", g.Port())
	return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), uint16(g.Port()))
}

func writeMember(t *testing.T, dir string, id lease.ID, station, addr string, port int) {
	t.Helper()
	chain := lease.NewChain(lease.NewDir(dir))
	require.NoError(t, chain.WriteMember(t.Context(), shareA, lease.Member{
		Node: id.Node, Run: id.Run, Station: station, Addrs: []string{addr}, Port: port, KMSN: testKMSN, Version: "v2",
	}))
}

// outsideOf is a PC at 127.0.0.1 on a share with a chain.
func outsideOf(t *testing.T) (config.Config, func() []Result) {
	t.Helper()
	dir := t.TempDir()
	record(t, dir, testKMSN, testToken)
	cfg := figures(dir)
	cfg.Station, cfg.GossipAdvertise, cfg.GossipPort, cfg.StateDir = "POS-01", "127.0.0.1", 7946, t.TempDir()
	return cfg, func() []Result { return look(t, outsideCheck(cfg, opener(lease.NewDir(dir)))) }
}

func TestOutside_AMemberIsReached(t *testing.T) {
	cfg, check := outsideOf(t)
	one(t, check(), OK, "no other PC is known yet", "")
	at := pos02(t, cfg.LeaseDir, testKMSN, testToken)
	soon(t, check, OK, "reached from this PC by UDP and TCP: POS-02 ("+at.String()+")", "")
}

func TestOutside_AnotherToken(t *testing.T) {
	cfg, check := outsideOf(t)
	pos02(t, cfg.LeaseDir, testKMSN, "another-token-of-this-site")
	soon(t, check, Failure, "another RELAY_TOKEN or KMSN than on this PC is used by POS-02", "fingerprint")
}

func TestOutside_APCThatIsOff(t *testing.T) {
	cfg, check := outsideOf(t)
	ln, err := net.Listen("tcp", "127.0.0.2:0")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	writeMember(t, cfg.LeaseDir, posTwo, "POS-02", "127.0.0.2", ln.Addr().(*net.TCPAddr).Port)
	one(t, check(), Warning, "no answer from POS-02", "off")
}

func TestOutside_SameStation(t *testing.T) {
	cfg, check := outsideOf(t)
	at := pos02(t, cfg.LeaseDir, testKMSN, testToken)
	writeMember(t, cfg.LeaseDir, posTwo, "pos-01", "127.0.0.2", int(at.Port()))
	one(t, check()[:1], Failure, "more than one PC has STATION=POS-01: this PC, pos-01 ("+at.String()+")", "STATION")
}

func TestOutside_ACopyOfThisPC(t *testing.T) {
	cfg, check := outsideOf(t)
	require.NoError(t, os.WriteFile(filepath.Join(cfg.StateDir, "node"), []byte(posTwo.Node+"\n"), 0o600))
	writeMember(t, cfg.LeaseDir, posTwo, "POS-01", "127.0.0.2", 7946)
	one(t, check(), OK, "no other PC", "")
	writeMember(t, cfg.LeaseDir, posTwo, "POS-02", "127.0.0.2", 7946)
	one(t, check()[:1], Failure, "same node id: this PC, POS-02 (127.0.0.2:7946)", "delete the file 'node'")
}

// Peers and the PCs of an earlier run are tried when the share says nothing.
func TestOutside_WithoutTheShare(t *testing.T) {
	cfg, _ := outsideOf(t)
	at := pos02(t, cfg.LeaseDir, testKMSN, testToken)
	gone := func() (lease.Share, error) { return lease.NewDir(filepath.Join(t.TempDir(), "gone")), nil }
	cfg.GossipPeers = []string{at.String()}
	check := func() []Result { return look(t, outsideCheck(cfg, gone)) }
	soon(t, check, OK, "reached from this PC by UDP and TCP: "+at.String(), "")
	rows, err := gossip.EncodeRows([]gossip.Row{{ID: posTwo, Addr: at, Meta: gossip.Meta{Station: "POS-02"}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(cfg.StateDir, "members.json"), rows, 0o600))
	soon(t, check, OK, "POS-02 ("+at.String()+")", "")
}

func TestJudgeKnock(t *testing.T) {
	for name, tc := range map[string]struct {
		k       gossip.Knocked
		unnamed bool
		level   Level
		text    string
	}{
		"well":          {gossip.Knocked{TCP: true, Speaks: true, Proved: true, UDP: true}, false, OK, ""},
		"restarted":     {gossip.Knocked{TCP: true, Speaks: true, UDP: true}, false, OK, ""},
		"tcp blocked":   {gossip.Knocked{UDP: true}, false, Failure, "TCP connections of this PC do not reach %s, UDP does"},
		"udp blocked":   {gossip.Knocked{TCP: true, Speaks: true, Proved: true}, false, Failure, "UDP does not pass"},
		"token":         {gossip.Knocked{TCP: true, Speaks: true}, false, Failure, "another RELAY_TOKEN or KMSN"},
		"not told":      {gossip.Knocked{TCP: true, Speaks: true}, true, Failure, "UDP does not pass between this PC and %s, or RELAY_TOKEN or KMSN differ"},
		"a stranger":    {gossip.Knocked{TCP: true}, false, Failure, "another program answers"},
		"not running":   {gossip.Knocked{Refused: true}, false, OK, ""},
		"no such thing": {gossip.Knocked{}, false, OK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, level := judgeKnock(tc.k, tc.unnamed, 7946)
			require.Equal(t, tc.level, level)
			require.Contains(t, f.text, tc.text)
			require.Equal(t, level == OK, f.do == "")
		})
	}
}

// A member that the daemon takes for dead is tried: it may only be cut off.
func TestJudgeOff(t *testing.T) {
	cfg, _ := outsideOf(t)
	at := pos02(t, cfg.LeaseDir, testKMSN, testToken)
	off := localapi.Surveyed{ID: posTwo.String(), Station: "POS-02", Addr: at.String(), State: "dead"}
	judge := func(cfg config.Config, ms ...localapi.Surveyed) func() []Result {
		return func() []Result { return look(t, func(ctx context.Context, tell Tell) { judgeOff(ctx, cfg, ms, tell) }) }
	}
	soon(t, judge(cfg, off), Warning, "takes POS-02 ("+at.String()+") for off, but it answers", "firewall")
	wrong := cfg
	wrong.Token = "another-token-of-this-site"
	soon(t, judge(wrong, off), Failure, "another RELAY_TOKEN or KMSN", "fingerprint")
	off.Addr = "127.0.0.2:1"
	one(t, judge(cfg, off)(), OK, "off, as far as this PC sees: POS-02 (127.0.0.2:1)", "")
	require.Empty(t, judge(cfg)())
}
