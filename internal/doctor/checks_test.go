package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/relayproc"
)

func TestChecks_WithoutAConfigurationOnlyTheFileIsLookedAt(t *testing.T) {
	in := load(t, "LEASE_TTL=99", "RELAY_PORT=abc")
	report := Run(t.Context(), Checks(in), Limit)
	require.Equal(t, 2, report.Failures)
	for i, want := range []string{"LEASE_TTL=99", "RELAY_PORT=abc"} {
		require.Equal(t, "ini", report.Results[i].Check)
		require.Contains(t, report.Results[i].Text, want)
		require.Contains(t, report.Results[i].Text, fmt.Sprintf("stk.ini:%d", 7+i))
	}
}

func TestINI_MissingOrUnreadable(t *testing.T) {
	got := look(t, Input{LoadErr: fmt.Errorf("%w at C:\\STK", config.ErrNotFound)}.checkINI)
	one(t, got, Failure, "no stk.ini found", "--template")
	got = look(t, Input{LoadErr: errors.New("permission denied")}.checkINI)
	one(t, got, Failure, "permission denied", "may read it")
}

func TestINI_NamesTheSiteButNotItsToken(t *testing.T) {
	got := look(t, load(t, "LEASE_TTLL=5").checkINI)
	require.Len(t, got, 3)
	require.Contains(t, got[0].Text, "(UTF-8)")
	require.Contains(t, got[1].Text, "site 4711, station POS-01, token fingerprint "+config.Fingerprint("4711", testToken))
	require.Equal(t, Warning, got[2].Level)
	require.Contains(t, got[2].Text, "LEASE_TTLL")
	for _, r := range got {
		require.NotContains(t, r.Text+r.Do, testToken)
	}
}

func TestDaemon(t *testing.T) {
	cfg := config.Config{APIAddr: "127.0.0.1:9532", Token: testToken, KMSN: testKMSN}
	open := opener(lease.NewDir("/srv/socket"))
	fingerprint := config.Fingerprint("4711", testToken)
	t.Run("none", func(t *testing.T) {
		one(t, look(t, daemonCheck(cfg, noDaemon, open)), Warning, "no floatrelay daemon", "floatrelay run")
	})
	t.Run("good", func(t *testing.T) {
		s := localapi.Status{Role: "client", Eligible: true, Token: fingerprint}
		one(t, look(t, daemonCheck(cfg, answers(s), open)), OK, "client", "")
	})
	t.Run("refuses", func(t *testing.T) {
		refuse := func(context.Context) (localapi.Status, error) {
			return localapi.Status{}, &localapi.RefusedError{Code: 503, Reason: "too many requests at once"}
		}
		one(t, look(t, daemonCheck(cfg, refuse, open)), Failure, "too many requests", "restart")
	})
	t.Run("another daemon", func(t *testing.T) {
		cfg := config.Config{APIAddr: "127.0.0.1:9532", Token: testToken, KMSN: testKMSN, Station: "POS-01"}
		s := localapi.Status{Eligible: true, Token: fingerprint, KMSN: "0815", Station: "POS-09", Share: localapi.ShareStatus{Path: "/srv/old"}}
		got := look(t, daemonCheck(cfg, answers(s), open))
		require.Len(t, got, 4)
		one(t, got[1:2], Failure, "runs with KMSN=0815, stk.ini says 4711", "--config")
		one(t, got[2:3], Failure, "runs with STATION=POS-09, stk.ini says POS-01", "restart")
		one(t, got[3:4], Failure, "runs with LEASE_DIR=/srv/old, stk.ini says "+filepath.FromSlash("/srv/socket"), "restart")
	})
	t.Run("old token, may not lead", func(t *testing.T) {
		s := localapi.Status{Role: "ineligible", Note: "drained", Token: "00000000"}
		got := look(t, daemonCheck(cfg, answers(s), open))
		require.Len(t, got, 3)
		one(t, got[1:2], Failure, "runs with RELAY_TOKEN (fingerprint)=00000000, stk.ini says "+fingerprint, "restart")
		one(t, got[2:], Warning, "drained", "another PC")
	})
}

func TestAskOnce_AsksOnce(t *testing.T) {
	n := 0
	once := askOnce(func(context.Context) (localapi.Status, error) { n++; return localapi.Status{Role: "leader"}, nil })
	for range 3 {
		s, err := once(t.Context())
		require.NoError(t, err)
		require.Equal(t, "leader", s.Role)
	}
	require.Equal(t, 1, n)
	_, err := askOnce(nil)(t.Context())
	require.ErrorIs(t, err, localapi.ErrNoDaemon)
}

func TestRelayPort_SaysWhatIsInTheWay(t *testing.T) {
	held := &relayproc.PortError{Port: 9530, Kind: relayproc.PortHeld, Holder: relayproc.Holder{PID: 4711, Program: "relay_server.exe"}}
	for name, tc := range map[string]struct {
		err      *relayproc.PortError
		here     bool
		level    Level
		text, do string
	}{
		"free":     {nil, false, OK, "9530 is free", ""},
		"ours":     {held, true, OK, "the relay of this PC", ""},
		"stranger": {held, false, Failure, "held by pid 4711 (relay_server.exe)", "old relay"},
		"waiting":  {&relayproc.PortError{Port: 9530, Kind: relayproc.PortTimeWait}, false, Warning, "TIME_WAIT", "by itself"},
		"reserved": {&relayproc.PortError{Port: 9530, Kind: relayproc.PortReserved}, false, Failure, "reserved", "excludedportrange"},
		"no addr":  {&relayproc.PortError{Addr: "1.2.3.4", Kind: relayproc.PortNoAddr}, false, Failure, "1.2.3.4", "RELAY_PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			got := look(t, func(_ context.Context, tell Tell) { relayPort(9530, tc.err, tc.here, tell) })
			one(t, got, tc.level, tc.text, tc.do)
		})
	}
}

func TestPortErrors_AreSortedByPort(t *testing.T) {
	a, b := &relayproc.PortError{Port: 1}, &relayproc.PortError{Port: 2}
	require.Equal(t, map[int]*relayproc.PortError{1: a, 2: b}, portErrors(errors.Join(a, b)))
	require.Equal(t, map[int]*relayproc.PortError{2: b}, portErrors(fmt.Errorf("wrapped: %w", b)))
	require.Empty(t, portErrors(nil))
}

func TestPorts_RealListenersAreNamed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer pc.Close()
	port := ln.Addr().(*net.TCPAddr).Port
	cfg := config.Config{RelayPort: port, GossipBind: "127.0.0.1", GossipPort: pc.LocalAddr().(*net.UDPAddr).Port, APIAddr: ln.Addr().String()}
	got := look(t, portsCheck(cfg, noDaemon))
	one(t, got[:1], Failure, fmt.Sprintf("port %d is held by", port), "RELAY_PORT")
	require.Contains(t, got[0].Text, " on 127.0.0.1")
	one(t, got[2:3], Failure, "member port", "GOSSIP_PORT")
	one(t, got[3:], Failure, "command port", "API_ADDR")

	running := localapi.Status{Relay: localapi.RelayStatus{State: "running"}}
	for _, r := range look(t, portsCheck(cfg, answers(running))) {
		require.Equal(t, OK, r.Level, r.Text)
	}
}

// A stranger on one address beside the relay on the others is seen.
func TestShared_TwoHoldersOfOnePort(t *testing.T) {
	judge := func(all ...relayproc.Holder) []Result {
		return look(t, func(_ context.Context, tell Tell) { judgeShared(all, 9530, "relay port", "RELAY_PORT", tell) })
	}
	relay := relayproc.Holder{PID: 7, Program: "relay_server.exe", Addr: "192.168.1.11"}
	old := relayproc.Holder{PID: 9, Program: "old.exe", Addr: "127.0.0.1"}
	one(t, judge(relay, old), Failure, "relay port 9530 is held twice: by pid 7 (relay_server.exe) on 192.168.1.11 and by pid 9 (old.exe) on 127.0.0.1", "RELAY_PORT")
	v6 := relay
	v6.Addr = "::"
	require.Empty(t, judge(relay, v6), "one program on several addresses")
	require.Empty(t, judge())
}

func TestAddress(t *testing.T) {
	judge := func(addr string) []Result {
		return look(t, func(_ context.Context, tell Tell) {
			judgeAddress(config.Config{GossipPort: 7946}, netip.MustParseAddr(addr), tell)
		})
	}
	one(t, judge("127.0.0.1"), Warning, "only this PC reaches", "demo")
	one(t, judge("198.51.100.7"), Warning, "not an address of this PC", "GOSSIP_ADVERTISE")
	one(t, look(t, addressCheck(config.Config{GossipBind: "127.0.0.1"})), Failure, "use GOSSIP_BIND=127.0.0.1: no other PC can reach this address", "GOSSIP_ADVERTISE")
	one(t, look(t, addressCheck(config.Config{GossipBind: "198.51.100.7"})), Failure, "GOSSIP_BIND=198.51.100.7 is not an address of this PC", "remove GOSSIP_BIND")
}
