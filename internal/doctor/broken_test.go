package doctor_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/doctor"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/service"
	"github.com/convertfw/floatrelay/internal/testkit/doctest"
	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

const (
	kmsn   = "4711"
	token  = "ruqpbha7q2ubtb57ue4bo24pin3sq7n6"
	shareA = "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d"
	shareB = "7f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d"
	table  = "../../docs/doctor.md"
	// elsewhere breaks what needs root and namespaces.
	elsewhere = "../../e2e/doctor_test.go"
)

// setup is a PC on which everything is right until it is broken.
type setup struct {
	t     *testing.T
	keys  map[string]string
	share string
	state string
	open  func() (lease.Share, error)
	limit time.Duration
	// account is what this PC's system knows of drive letters.
	account func(dir string) error

	status *localapi.Status // nil: no daemon
	survey localapi.Survey
}

func newSetup(t *testing.T) *setup {
	s := &setup{t: t, share: t.TempDir(), state: t.TempDir(), limit: doctor.Limit}
	require.NoError(t, os.Chmod(s.state, 0o700))
	exe := filepath.Join(t.TempDir(), "relay.bat")
	require.NoError(t, os.WriteFile(exe, []byte("exit 0\n"), 0o755))
	s.keys = map[string]string{
		"KMSN": kmsn, "STATION": "POS-01", "RELAY_TOKEN": token, "LEASE_DIR": s.share, "STATE_DIR": s.state, "RELAY_EXE": exe,
		"RELAY_PORT": fmt.Sprint(freePair(t)), "GOSSIP_PORT": fmt.Sprint(freePair(t)), "API_ADDR": fmt.Sprintf("127.0.0.1:%d", freePair(t)),
		"GOSSIP_ADVERTISE": "127.0.0.1",
	}
	s.chain(kmsn, shareA)
	return s
}

// nextPort makes every pair of a run another one.
var nextPort = 20000 + rand.IntN(4000)

// freePair returns a port that is free together with the next one, below those
// the system gives to anybody.
func freePair(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := nextPort
		nextPort += 2
		a, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue
		}
		b, err := net.Listen("tcp", fmt.Sprintf(":%d", port+1))
		require.NoError(t, a.Close())
		if err == nil {
			require.NoError(t, b.Close())
			return port
		}
	}
	require.FailNow(t, "no two free ports in a row")
	return 0
}

// chain puts a chain of a site into the share.
func (s *setup) chain(site, id string) {
	codec, err := lease.NewCodec(site, token)
	require.NoError(s.t, err)
	body, err := codec.Seal(lease.Record{
		Share: id, KMSN: site, Station: "POS-03", Rev: 7, Epoch: 3, Owner: lease.ID{Node: "3", Run: "a1"}, State: lease.Held,
		Reason: "takeover", IP: "192.168.1.13", Port: 9530, PID: 4, TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	})
	require.NoError(s.t, err)
	require.NoError(s.t, lease.NewChain(lease.NewDir(s.share)).Found(s.t.Context(), id, 7, body))
}

// other runs a second PC at 127.0.0.2, a member of the site that its token says.
func (s *setup) other(station, secret string) lease.ID {
	id := lease.ID{Node: "00000000-0000-4000-8000-000000000002", Run: "00000000000a"}
	g, err := gossip.New(gossip.Config{
		Self: id, KMSN: kmsn, Token: secret, BindAddr: "127.0.0.2", AdvertiseAddr: "127.0.0.2", Meta: gossip.Meta{Station: station},
	}, silent{})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, g.Close()) })
	require.NoError(s.t, lease.NewChain(lease.NewDir(s.share)).WriteMember(s.t.Context(), shareA, lease.Member{
		Node: id.Node, Run: id.Run, Station: station, Addrs: []string{"127.0.0.2"}, Port: g.Port(), KMSN: kmsn,
	}))
	return id
}

type silent struct{}

func (silent) Beat(lease.ID, uint64, []byte)  {}
func (silent) Vouch(lease.ID, string, uint64) {}
func (silent) Head(lease.ID, []byte)          {}
func (silent) LeaderGone(lease.ID)            {}
func (silent) Members()                       {}

// daemon gives the PC a daemon that sees one other member.
func (s *setup) daemon(spoil func(*localapi.Status, *localapi.Survey)) {
	_, east := time.Now().Zone()
	s.status = &localapi.Status{Role: "client", Eligible: true, KMSN: kmsn, Station: "POS-01", Token: config.Fingerprint(kmsn, token)}
	s.survey = localapi.Survey{Self: "n1/r1", KMSN: kmsn, Station: "POS-01", Share: shareA, Members: []localapi.Surveyed{{
		ID: "n2/r2", Station: "POS-02", Addr: "192.168.1.12:7946", State: "alive", Share: shareA, Asked: true, Answered: true,
		UDPOut: true, UDPBack: true, TCPOut: true, TCPBack: true, ZoneSec: east,
	}}}
	spoil(s.status, &s.survey)
}

func (s *setup) file(name, text string) {
	require.NoError(s.t, os.WriteFile(filepath.Join(s.state, name), []byte(text), 0o600))
}

// occupy listens on the port that a key names, until the test ends.
func (s *setup) occupy(network, key string) {
	addr := "127.0.0.1:" + s.keys[key]
	if network == "udp" {
		c, err := net.ListenPacket(network, "0.0.0.0:"+s.keys[key])
		require.NoError(s.t, err)
		s.t.Cleanup(func() { _ = c.Close() })
		return
	}
	ln, err := net.Listen(network, addr)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = ln.Close() })
}

// examine writes stk.ini and lets the doctor look.
func (s *setup) examine() doctor.Report {
	var text strings.Builder
	for k, v := range s.keys {
		fmt.Fprintf(&text, "%s=%s\r\n", k, v)
	}
	path := filepath.Join(s.t.TempDir(), "stk.ini")
	require.NoError(s.t, os.WriteFile(path, []byte(text.String()), 0o600))
	in := doctor.Input{Path: path, OpenShare: s.open, Account: s.account}
	in.Loaded, in.LoadErr = config.Load(path, nil)
	if in.OpenShare == nil {
		in.OpenShare = func() (lease.Share, error) { return lease.NewDir(s.keys["LEASE_DIR"]), nil }
	}
	if s.status != nil {
		in.Status = func(context.Context) (localapi.Status, error) { return *s.status, nil }
		in.Survey = func(context.Context) (localapi.Survey, error) { return s.survey, nil }
	}
	begin := time.Now()
	report := doctor.Run(s.t.Context(), doctor.Checks(in), s.limit)
	require.Less(s.t, time.Since(begin), s.limit+20*time.Second, "a share that hangs does so until the test ends")
	return report
}

// shown is how the set-up was broken, in the words of the table.
func (s *setup) shown() string {
	switch {
	case s.status != nil || s.account != nil:
		return doctest.Told
	case s.open != nil:
		return doctest.Fault
	}
	return doctest.Real
}

// faultyShare opens the share with a fault in it.
func (s *setup) faultyShare(in faulty.Injector) {
	s.open = func() (lease.Share, error) { return faulty.New(lease.NewDir(s.share), in), nil }
}

// broken are the ways to break a set-up, by the first column of the table.
var broken = map[string]func(*setup){
	"a value in stk.ini that is not allowed": func(s *setup) { s.keys["LEASE_TTL"] = "99" },
	"LEASE_DIR is not there":                 func(s *setup) { s.keys["LEASE_DIR"] = filepath.Join(s.share, "gone") },
	"LEASE_DIR is on a drive letter, and floatrelay is to run as a service": func(s *setup) {
		s.keys["LEASE_DIR"] = `W:\socket`
		s.open = func() (lease.Share, error) { return lease.NewDir(s.share), nil }
		s.account = func(dir string) error {
			return service.CheckAccount(dir, `.\any`, service.Host{Remote: func(drive string) (string, bool) { return `\\nas\pos`, drive == "W:" }})
		}
	},
	"creating a file is not exclusive on the share": func(s *setup) {
		s.open = func() (lease.Share, error) { return generous{lease.NewDir(s.share)}, nil }
	},
	"the share hangs": func(s *setup) {
		gate := &faulty.Gate{}
		gate.Close()
		s.t.Cleanup(gate.Open)
		s.faultyShare(faulty.Stall(gate))
		s.limit = 3 * time.Second
	},
	"one PC works on an offline copy, or in another folder": func(s *setup) {
		s.daemon(func(_ *localapi.Status, v *localapi.Survey) { v.Members[0].Share = shareB })
	},
	"two PCs win the same new file (a replicated share)": func(s *setup) {
		s.daemon(func(_ *localapi.Status, v *localapi.Survey) {
			v.Race = &localapi.Race{With: "POS-02", Rounds: 16, Both: 16}
		})
	},
	"the folder belongs to another site": func(s *setup) {
		require.NoError(s.t, os.RemoveAll(filepath.Join(s.share, "relay_leader.d")))
		s.chain("0815", shareA)
	},
	"the folder holds two chains": func(s *setup) {
		second := filepath.Join(s.share, "relay_leader.d", shareB)
		require.NoError(s.t, os.Mkdir(second, 0o755))
		require.NoError(s.t, os.WriteFile(filepath.Join(second, "0000000001.lock"), nil, 0o600))
	},
	"a stranger holds the relay's port on one address": func(s *setup) { s.occupy("tcp", "RELAY_PORT") },
	"a stranger holds the member port":                 func(s *setup) { s.occupy("udp", "GOSSIP_PORT") },
	"another PC has the same STATION":                  func(s *setup) { s.other("POS-01", token) },
	"another PC is a copy of this one":                 func(s *setup) { s.file("node", s.other("POS-02", token).Node+"\n") },
	"one PC has another RELAY_TOKEN":                   func(s *setup) { s.other("POS-02", "another-secret-of-nobody-at-all") },
	"GOSSIP_BIND is an address of another PC": func(s *setup) {
		s.keys["GOSSIP_BIND"] = "198.51.100.7"
		delete(s.keys, "GOSSIP_ADVERTISE")
	},
	"the clock of one PC is far off": func(s *setup) {
		s.daemon(func(_ *localapi.Status, v *localapi.Survey) { v.Members[0].SkewMS = -40 * 60 * 1000 })
	},
	"the relay program is missing":                func(s *setup) { s.keys["RELAY_EXE"] = filepath.Join(s.state, "relay_server.exe") },
	"the file with this PC's identity is damaged": func(s *setup) { s.file("node", "\x00\x00\x00\x00") },
	"the daemon was started with another stk.ini": func(s *setup) {
		s.daemon(func(x *localapi.Status, _ *localapi.Survey) { x.Station = "POS-09" })
	},
}

// generous is a share on which everybody wins.
type generous struct{ lease.Share }

func (g generous) Create(ctx context.Context, name string, body []byte) error {
	_ = g.Share.Create(ctx, name, body)
	return nil
}

func TestBroken_TheTrueCauseIsNamed(t *testing.T) {
	rows, err := doctest.Read(table)
	require.NoError(t, err)
	for name, spoil := range broken {
		t.Run(name, func(t *testing.T) {
			row, ok := rows[name]
			require.True(t, ok, "it is not in the table of docs/doctor.md")
			s := newSetup(t)
			spoil(s)
			require.Equal(t, s.shown(), row.Shown, "how it is shown")
			require.NoError(t, row.Judge(s.examine()))
		})
	}
	require.GreaterOrEqual(t, len(broken), 10)
	sites, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	for name, row := range rows {
		require.True(t, broken[name] != nil || strings.Contains(string(sites), `"`+name+`"`), "nobody breaks %q", name)
		require.Equal(t, broken[name] == nil, row.Shown == doctest.Sites, "how %q is shown", name)
	}
}

func TestBroken_NothingIsSaidOfWhatIsRight(t *testing.T) {
	s := newSetup(t)
	require.Zero(t, s.examine().Failures)
	s.daemon(func(*localapi.Status, *localapi.Survey) {})
	require.Zero(t, s.examine().Failures)
}
