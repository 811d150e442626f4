//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/doctor"
	"github.com/convertfw/floatrelay/internal/testkit/doctest"
	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/lease"
)

// doctorLimit is how long the doctor may take, its start included.
const doctorLimit = 15 * time.Second

// doctor runs the doctor on the PC and checks its exit code and its time.
func (p *pc) doctor(env ...string) doctor.Report {
	p.s.t.Helper()
	return runDoctor(p.s.t, p.dir, append([]string{"ip", "netns", "exec", p.ns, *exe}, "doctor"), append([]string{passwordEnv}, env...))
}

func runDoctor(t testing.TB, dir string, args, env []string) (report doctor.Report) {
	t.Helper()
	args = append(args, "--json", "--config", filepath.Join(dir, "stk.ini"))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	begin := time.Now()
	out, err := cmd.Output()
	require.Less(t, time.Since(begin), doctorLimit)
	require.NoError(t, json.Unmarshal(out, &report), "%s", out)
	require.Equal(t, report.OK, err == nil, "the exit code tells: %v", err)
	return report
}

// breakage is one way to break a site that is well; the doctor runs on p.
type breakage struct {
	row  string // of the table in docs/doctor.md
	env  string
	make func(s *site, p *pc)
	heal func(s *site, p *pc)
}

func healed(s *site, _ *pc) { s.lan.Heal() }

// again restarts a PC with other keys.
func (p *pc) again(keys map[string]string) {
	p.Stop()
	p.configure(keys)
	p.Start()
}

func (p *pc) statePath(name string) string { return filepath.Join(p.dir, "state", name) }

var breakages = []breakage{
	{row: "UDP is blocked between the PCs", heal: healed, make: func(s *site, _ *pc) { s.lan.BlockUDP() }},
	{row: "packets of another PC do not reach this one", heal: healed, make: func(s *site, p *pc) {
		s.lan.rules("  iifname " + s.pcs[1].port + " oifname " + p.port + " ip protocol udp drop\n")
	}},
	{row: "a firewall refuses the connections of this PC to another", heal: healed, make: func(s *site, p *pc) {
		s.lan.rules("  iifname " + p.port + " oifname " + s.pcs[1].port + " tcp dport 7946 drop\n")
	}},
	{row: "the file server hangs", make: func(s *site, _ *pc) { s.server.Freeze() }, heal: func(s *site, _ *pc) {
		s.server.Resume()
		s.settle() // the relay may have been lost meanwhile
	}},
	{row: "the password of the share is wrong", env: "FLOATRELAY_LEASE_SMB_PASSWORD=wrong"},
	{
		row: "the account may read the share but not write it",
		make: func(_ *site, p *pc) {
			p.again(map[string]string{"LEASE_DIR": sambatest.URL(serverIP, sambatest.ReadOnly, "socket")})
		},
		heal: func(_ *site, p *pc) { p.again(nil) },
	},
	{
		row:  "one PC has another RELAY_TOKEN, seen from the others",
		make: func(s *site, _ *pc) { s.pcs[2].again(map[string]string{"RELAY_TOKEN": "another-token-of-nobody"}) },
		heal: func(s *site, _ *pc) { s.pcs[2].again(nil) },
	},
	{
		row:  "another PC has the same STATION, and both run",
		make: func(s *site, _ *pc) { s.pcs[2].again(map[string]string{"STATION": "POS-01"}) },
		heal: func(s *site, _ *pc) { s.pcs[2].again(nil) },
	},
	{
		row:  "STATION was changed in stk.ini and the daemon not restarted",
		make: func(_ *site, p *pc) { p.configure(map[string]string{"STATION": "POS-09"}) },
		heal: func(_ *site, p *pc) { p.configure(nil) },
	},
	{
		row: "another PC works in another folder of the server, and both run",
		make: func(s *site, _ *pc) {
			require.NoError(s.t, os.Mkdir(filepath.Join(s.server.Folder, "other"), 0o777))
			s.foundIn(lease.NewChain(lease.NewDir(filepath.Join(s.server.Folder, "other"))), uuid.NewString())
			s.pcs[2].again(map[string]string{"LEASE_DIR": sambatest.URL(serverIP, sambatest.Share, "other")})
		},
		heal: func(s *site, _ *pc) { s.pcs[2].again(nil) },
	},
	{
		row: "another PC is a copy of this one, and both run",
		make: func(s *site, p *pc) {
			s.pcs[2].Stop()
			b, err := os.ReadFile(p.statePath("node"))
			require.NoError(s.t, err)
			require.NoError(s.t, os.WriteFile(s.pcs[2].statePath("node"), b, 0o600))
			s.pcs[2].Start()
		},
	},
}

// Every set-up is broken on a site that was well, and the doctor names what was
// done, word for word as docs/doctor.md says. It may take a moment until the
// members notice.
func TestDoctor_BrokenSites(t *testing.T) {
	t.Parallel()
	rows, err := doctest.Read("../docs/doctor.md")
	require.NoError(t, err)
	s := newSite(t, 3, nil)
	for _, p := range s.pcs {
		var report doctor.Report
		for try := 0; ; try++ { // a PC that raced a moment ago asks to repeat
			if report = p.doctor(); report.Warnings == 0 || try == 3 {
				break
			}
			time.Sleep(3 * time.Second)
		}
		require.Zero(t, report.Failures, "%+v", report)
		require.Zero(t, report.Warnings, "%+v", report)
		says := map[string]int{}
		for _, x := range report.Results {
			says[x.Check]++
		}
		require.Positive(t, says["race"], "two PCs raced")
		require.Positive(t, says["clocks"])
	}
	p := s.pcs[0]
	for _, b := range breakages {
		t.Run(b.row, func(t *testing.T) {
			row, ok := rows[b.row]
			require.True(t, ok, "it is not in the table")
			if b.make != nil {
				b.make(s, p)
			}
			for begin := time.Now(); ; time.Sleep(500 * time.Millisecond) {
				err := row.Judge(p.doctor(b.env))
				if err == nil {
					break
				}
				t.Log(err)
				require.Less(t, time.Since(begin), 30*time.Second, err.Error())
			}
			if b.heal != nil {
				b.heal(s, p)
			}
		})
	}
}

// Two PCs in two folders that hold the same chain, as a replication that lags
// leaves them: each alone is sound, and only a race between the PCs tells. The
// second one must never lead: nothing would stop it. It is told where the first is,
// since neither finds the other's file.
func TestDoctor_CopiesOfOneFolder(t *testing.T) {
	t.Parallel()
	rows, err := doctest.Read("../docs/doctor.md")
	require.NoError(t, err)
	s := &site{t: t, lan: newLAN(t)}
	id, folders := uuid.NewString(), []string{t.TempDir(), t.TempDir()}
	for i, folder := range folders {
		s.foundIn(lease.NewChain(lease.NewDir(folder)), id)
		p := &pc{s: s, port: fmt.Sprintf("pc%d", i+1), station: fmt.Sprintf("POS-%02d", i+1), ip: fmt.Sprintf("%s%d", netPrefix, i+11), dir: t.TempDir()}
		p.ns = s.lan.plug(p.port, p.ip, fmt.Sprintf("02:00:00:00:00:%02x", i+1))
		p.configure(map[string]string{"LEASE_DIR": folder, "GOSSIP_PEERS": netPrefix + "11", "RELAY_PRIORITY": strconv.Itoa(100 * (1 - i))})
		t.Cleanup(p.PowerCut)
		p.Start()
		s.pcs = append(s.pcs, p)
	}
	row, ok := rows["two PCs work in copies of one folder, as a replication that lags leaves them"]
	require.True(t, ok, "it is not in the table")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.NoError(c, row.Judge(s.pcs[0].doctor()))
	}, 60*time.Second, 500*time.Millisecond)
}

// Folders of this machine that only root can spoil.
func TestDoctor_BrokenFolders(t *testing.T) {
	t.Parallel()
	rows, err := doctest.Read("../docs/doctor.md")
	require.NoError(t, err)
	for name, options := range map[string]string{
		"the share is full":      "size=64k,mode=777",
		"the share is read-only": "size=64k,mode=777,ro",
	} {
		t.Run(name, func(t *testing.T) {
			share := t.TempDir()
			run(t, "mount", "-t", "tmpfs", "-o", options, "floatrelay-e2e", share)
			t.Cleanup(func() { run(t, "umount", share) })
			if name == "the share is full" {
				fill(t, filepath.Join(share, "film"))
			}
			s := &site{t: t, lan: newLAN(t), url: share}
			p := &pc{s: s, port: "pc1", station: "POS-01", ip: netPrefix + "11", dir: t.TempDir()}
			p.ns = s.lan.plug(p.port, p.ip, "02:00:00:00:00:01")
			p.configure(nil)
			row, ok := rows[name]
			require.True(t, ok, "it is not in the table")
			require.NoError(t, row.Judge(p.doctor()))
		})
	}
}

// fill writes until there is no space.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			return
		}
	}
}

// A PC with two cards, and nothing that tells which one leads to the others.
func TestDoctor_SeveralAddresses(t *testing.T) {
	t.Parallel()
	rows, err := doctest.Read("../docs/doctor.md")
	require.NoError(t, err)
	s := &site{t: t, lan: newLAN(t), url: t.TempDir()}
	p := &pc{s: s, port: "pc1", station: "POS-01", ip: netPrefix + "11", dir: t.TempDir()}
	p.ns = s.lan.plug(p.port, p.ip, "02:00:00:00:00:01")
	for _, args := range [][]string{
		{"route", "del", "default"},
		{"link", "add", "lan1", "type", "veth", "peer", "name", "nowhere"},
		{"addr", "add", "192.168.50.1/24", "dev", "lan1"},
		{"link", "set", "lan1", "up"}, {"link", "set", "nowhere", "up"},
	} {
		run(t, "ip", append([]string{"-n", p.ns}, args...)...)
	}
	p.configure(nil)
	row, ok := rows["two cards, and nothing tells which one leads to the others"]
	require.True(t, ok, "it is not in the table")
	require.NoError(t, row.Judge(p.doctor()))
}
