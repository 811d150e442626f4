package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
)

func TestHandoff_AsksTheDaemon(t *testing.T) {
	s := station()
	file := ini(t, "API_ADDR="+serving(t, s))
	require.Equal(t, result{exitOK, "handoff begun\n", ""}, cli(t, "handoff", "--config", file))
	require.Equal(t, result{exitOK, `{"ok":true}` + "\n", ""}, cli(t, "handoff", "功許蓋", "--json", "--config", file))
	require.Equal(t, []string{"", "功許蓋"}, s.to)
}

func TestHandoff_WaitsForTheNewRelay(t *testing.T) {
	next := &localapi.Leader{KMSN: testKMSN, Station: "POS-01", IP: "192.168.1.11", Port: 9530, Epoch: 43, Ready: true}
	t.Run("ready", func(t *testing.T) {
		s := station()
		s.after = next
		got := cli(t, "handoff", "POS-01", "--wait", "--config", ini(t, "API_ADDR="+serving(t, s)))
		require.Equal(t, exitOK, got.code, got.err)
		require.Regexp(t, `^POS-01 leads, relay ready at 192\.168\.1\.11:9530 after \d+ ms\n$`, got.out)
	})
	t.Run("as JSON", func(t *testing.T) {
		s := station()
		s.after = next
		got := cli(t, "handoff", "--wait", "--json", "--config", ini(t, "API_ADDR="+serving(t, s)))
		var l localapi.Leader
		require.NoError(t, json.Unmarshal([]byte(got.out), &l))
		require.Equal(t, *next, l)
	})
	t.Run("somebody else", func(t *testing.T) {
		s := station()
		s.after = next
		got := cli(t, "handoff", "POS-02", "--wait", "--config", ini(t, "API_ADDR="+serving(t, s)))
		require.Equal(t, result{exitNo, "", "floatrelay: POS-01 took over instead of POS-02; see 'floatrelay history' there\n"}, got)
	})
	t.Run("the old epoch does not count", func(t *testing.T) {
		got := cli(t, "handoff", "--wait", "--timeout", "20ms", "--config", ini(t, "API_ADDR="+serving(t, station())))
		require.Equal(t, exitNo, got.code)
		require.Contains(t, got.err, "no new relay was ready within 20ms: 餐廳-02 still leads")
	})
	t.Run("interrupted", func(t *testing.T) {
		s := &interrupting{site: station()}
		ctx, cancel := context.WithCancel(t.Context())
		s.cancel = cancel
		got := cliContext(ctx, nil, "handoff", "--wait", "--config", ini(t, "API_ADDR="+serving(t, s)))
		require.Equal(t, exitNo, got.code)
		require.Contains(t, got.err, "the handoff goes on")
	})
}

// interrupting ends the command line once the new leader is asked for.
type interrupting struct {
	*site
	cancel func()
}

func (s *interrupting) Leader() (localapi.Leader, bool) {
	s.mu.Lock()
	asked := len(s.to)
	s.mu.Unlock()
	if asked > 0 {
		s.cancel()
	}
	return s.site.Leader()
}

func TestHandoff_RefusalIsExit1WithItsReason(t *testing.T) {
	s := station()
	s.refuse = errors.New("POS-02 is not eligible: drained")
	file := ini(t, "API_ADDR="+serving(t, s))
	require.Equal(t, result{exitNo, "", "floatrelay: handoff refused: POS-02 is not eligible: drained\n"},
		cli(t, "handoff", "POS-02", "--config", file))
	require.Equal(t, exitNo, cli(t, "drain", "--config", file).code)
}

// What drain says is what has come of it: a leader that nobody can follow leads
// on, one that hands over is waited for.
func TestDrain_SaysWhetherThisPCLeadsOn(t *testing.T) {
	const gone, on = "drained: this PC will not lead until", "drained, but this PC leads on until another PC can"
	alone := func(s *site) {
		for i := range s.members.Members {
			m := &s.members.Members[i]
			switch {
			case m.ID == s.members.Self:
			case i%2 == 0:
				m.Priority = 0
			case m.State != "dead":
				m.Eligible, m.Priority = false, 100
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*site)
		text   string
		leads  bool
	}{
		"nobody else can": {alone, on, true},
		"handed over":     {func(s *site) { s.yields = 4 }, gone, false},
		"did not lead":    {func(s *site) { s.status.Role = "client" }, gone, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, flag := range []string{"", "--json"} {
				s := leading()
				c.change(s)
				args := []string{"drain", "--config", ini(t, "API_ADDR="+serving(t, s))}
				if flag == "" {
					got := cli(t, args...)
					require.Equal(t, exitOK, got.code, got.err)
					require.Contains(t, got.out, c.text)
					continue
				}
				var j map[string]bool
				require.NoError(t, json.Unmarshal([]byte(cli(t, append(args, flag)...).out), &j))
				require.Equal(t, map[string]bool{"ok": true, "leads": c.leads}, j)
			}
		})
	}
}

func TestDrain_AsksTheDaemon(t *testing.T) {
	s := station()
	file := ini(t, "API_ADDR="+serving(t, s))
	got := cli(t, "drain", "--config", file)
	require.Equal(t, exitOK, got.code)
	require.Contains(t, got.out, "will not lead")
	require.Equal(t, exitOK, cli(t, "undrain", "--config", file).code)
	require.Equal(t, []bool{true, false}, s.drained)
}

func TestChanges_NeedTheRightToken(t *testing.T) {
	s := station()
	addr := serving(t, s)
	env := []string{"FLOATRELAY_RELAY_TOKEN=another-token-that-is-long-enough"}
	got := cliContext(t.Context(), env, "handoff", "--config", ini(t), "--api", addr)
	require.Equal(t, exitNo, got.code)
	require.Contains(t, got.err, "RELAY_TOKEN")
	require.Empty(t, s.to)
}

func TestChanges_WithoutAConfigurationAreExit2(t *testing.T) {
	got := cli(t, "drain", "--api", serving(t, station()))
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "floatrelay config --template")
}

func TestToken_New(t *testing.T) {
	first, second := cli(t, "token", "new").out, cli(t, "token", "new").out
	require.Regexp(t, `^[a-z2-7]{32}\n$`, first)
	require.NotEqual(t, first, second)
	var j map[string]string
	require.NoError(t, json.Unmarshal([]byte(cli(t, "token", "new", "--json", "--config", ini(t)).out), &j))
	require.Equal(t, config.Fingerprint(testKMSN, j["token"]), j["fingerprint"])
	clear(j)
	require.NoError(t, json.Unmarshal([]byte(cli(t, "token", "new", "--json", "--config", t.TempDir()).out), &j))
	require.NotContains(t, j, "fingerprint", "of no site")
}

func TestToken_FingerprintNeverShowsTheToken(t *testing.T) {
	file := ini(t, "RELAY_TOKEN_OLD=the-old-token-of-this-site")
	got := cli(t, "token", "fingerprint", "--config", file)
	require.Equal(t, config.Fingerprint(testKMSN, testToken)+"\n", got.out)
	for _, line := range []string{"token fingerprint --json", "config", "config --json", "config --check"} {
		got := cli(t, append(strings.Fields(line), "--config", file)...)
		require.Equal(t, exitOK, got.code, got.err)
		require.NotContains(t, got.out+got.err, testToken, line)
		require.NotContains(t, got.out+got.err, "the-old-token", line)
	}
}

func TestToken_StatusComparesWithTheDaemon(t *testing.T) {
	s := station()
	s.status.Token = config.Fingerprint(testKMSN, testToken)
	got := cli(t, "token", "status", "--config", ini(t, "API_ADDR="+serving(t, s)))
	require.Equal(t, exitOK, got.code, got.err)
	require.Contains(t, got.out, "no rotation under way")

	got = cli(t, "token", "status", "--config", ini(t, "API_ADDR="+serving(t, station())))
	require.Equal(t, exitNo, got.code)
	require.Contains(t, got.err, "restart the daemon: floatrelay service stop, then floatrelay service start")
}

func TestConfig_ShowsValuesAndProblems(t *testing.T) {
	t.Run("right", func(t *testing.T) {
		got := cli(t, "config", "--config", ini(t, "LEASE_TTL=15"))
		require.Equal(t, exitOK, got.code, got.err)
		require.Regexp(t, `LEASE_TTL +15s? +stk\.ini:7`, got.out)
	})
	t.Run("wrong", func(t *testing.T) {
		file := ini(t, "LEASE_TTL=99")
		for _, line := range []string{"config", "config --check", "config --json", "config --check --json", "handoff"} {
			got := cli(t, append(strings.Fields(line), "--config", file)...)
			require.Equal(t, exitUsage, got.code, line)
			require.Contains(t, strings.ReplaceAll(got.out+got.err, `\\`, `\`), file+":7: LEASE_TTL=99", line)
		}
	})
	t.Run("template", func(t *testing.T) {
		got := cli(t, "config", "--template")
		require.Equal(t, exitOK, got.code)
		require.Contains(t, got.out, "LEASE_TTL=10\r\n")
	})
}

// What keeps a PC from ever running the relay is said by the check, but is no
// problem of the file.
func TestConfig_CheckLooksForTheRelayProgram(t *testing.T) {
	here := filepath.Join(t.TempDir(), "relay_server.exe")
	require.NoError(t, os.WriteFile(here, []byte("x"), 0o755))
	missing := filepath.Join(t.TempDir(), "relay.exe")
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"not set":      {nil, "stk.ini: RELAY_EXE is not set: this PC will never run the relay"},
		"not there":    {[]string{"RELAY_EXE=" + missing}, "stk.ini:7: RELAY_EXE=" + missing + " is not there"},
		"a folder":     {[]string{"RELAY_EXE=" + filepath.Dir(here)}, "is a folder"},
		"there":        {[]string{"RELAY_EXE=" + here}, ""},
		"never leads":  {[]string{"RELAY_PRIORITY=0"}, ""},
		"other system": {[]string{"RELAY_EXE=" + otherSystemPath}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, flags := range []string{"--check", "--check --json"} {
				got := cli(t, append([]string{"config", "--config", ini(t, tc.lines...)}, strings.Fields(flags)...)...)
				require.Equal(t, exitOK, got.code, got.err)
				if tc.want == "" {
					require.NotContains(t, got.out, "RELAY_EXE", flags)
					continue
				}
				require.Contains(t, strings.ReplaceAll(got.out, `\\`, `\`), tc.want, flags)
			}
			require.NotContains(t, cli(t, "config", "--config", ini(t, tc.lines...)).err, "RELAY_EXE", "only the check says it")
		})
	}
}
