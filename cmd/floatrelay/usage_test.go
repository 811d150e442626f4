package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHelp_Golden(t *testing.T) {
	for name, args := range map[string][]string{
		"help":         {"--help"},
		"help_members": {"members", "--help"},
		"help_handoff": {"help", "handoff"},
	} {
		got := cli(t, args...)
		require.Equal(t, exitOK, got.code)
		golden(t, name+".txt", got.out)
	}
}

// One line that says what is wrong and one that says where to look.
func TestUsage_MistakesAreTwoLinesAndExit2(t *testing.T) {
	for line, want := range map[string]string{
		"foo":                 `unknown command "foo" for "floatrelay"`,
		"members --bad":       "unknown flag: --bad",
		"members x":           `members takes no argument, got "x"`,
		"handoff A B":         "handoff takes one STATION, got 2",
		"handoff --timeout 5": `invalid argument "5" for "--timeout" flag: time: missing unit in duration "5"`,
		"token":               "token needs one of: new, fingerprint, status",
		"token foo":           `unknown command "foo" for "floatrelay token"`,
		"config --check --template": "if any flags in the group [check template] are set none of the others can be; " +
			"[check template] were all set",
		"status --api 10.0.0.5:9532": `--api: API_ADDR "10.0.0.5:9532": only a loopback address is allowed ` +
			"(127.0.0.1, ::1 or localhost)",
		"--config": "flag needs an argument: --config",
	} {
		got := cli(t, strings.Fields(line)...)
		require.Equal(t, exitUsage, got.code, line)
		require.Empty(t, got.out, line)
		lines := strings.Split(got.err, "\n")
		require.Len(t, lines, 3, got.err)
		require.Equal(t, "floatrelay: "+want, lines[0])
		require.Regexp(t, `^  see 'floatrelay( \w+)* --help'$`, lines[1])
	}
}

func TestNoDaemon_IsExit3ForEveryCommandThatAsks(t *testing.T) {
	file := ini(t)
	for _, line := range []string{
		"members", "members --json", "leader", "status", "watch", "handoff", "handoff POS-02 --wait",
		"drain", "undrain", "token status",
	} {
		got := cli(t, append(strings.Fields(line), "--config", file, "--api", unusedAddr(t))...)
		require.Equal(t, exitNoDaemon, got.code, "%s: %s", line, got.err)
		require.Empty(t, got.out, line)
		require.Contains(t, got.err, "no floatrelay daemon reachable at 127.0.0.1:", line)
		require.Contains(t, got.err, "start it with 'floatrelay run'", line)
	}
}

func TestNoDaemon_AStrangerOnThePortIsNamed(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	got := cli(t, "status", "--api", other.Listener.Addr().String())
	require.Equal(t, exitNoDaemon, got.code)
	require.Contains(t, got.err, "another program answers there")
}

func TestAPIAddress_ComesFromTheConfiguration(t *testing.T) {
	addr := serving(t, station())
	t.Run("file", func(t *testing.T) {
		got := cli(t, "leader", "--config", ini(t, "API_ADDR="+addr))
		require.Equal(t, "192.168.1.10:9530\n", got.out, got.err)
	})
	t.Run("environment", func(t *testing.T) {
		got := cliContext(t.Context(), []string{"FLOATRELAY_API_ADDR=" + addr}, "leader", "--config", ini(t))
		require.Equal(t, "192.168.1.10:9530\n", got.out, got.err)
	})
	t.Run("environment without a file", func(t *testing.T) {
		got := cliContext(t.Context(), []string{"FLOATRELAY_API_ADDR=" + addr}, "leader")
		require.Equal(t, "192.168.1.10:9530\n", got.out, got.err)
	})
	t.Run("the flag wins over a broken file", func(t *testing.T) {
		got := cli(t, "leader", "--config", ini(t, "RELAY_PORT=abc"), "--api", addr)
		require.Equal(t, "192.168.1.10:9530\n", got.out, got.err)
	})
	t.Run("a named file must be right", func(t *testing.T) {
		got := cli(t, "leader", "--config", ini(t, "API_ADDR="+addr, "RELAY_PORT=abc"))
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, "RELAY_PORT=abc")
		require.Contains(t, got.err, "see 'floatrelay config --check'")
	})
	t.Run("a named file must be there", func(t *testing.T) {
		got := cli(t, "leader", "--config", filepath.Join(t.TempDir(), "stk.ini"))
		require.Equal(t, exitUsage, got.code)
	})
}

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"},
	}}
	released := &debug.BuildInfo{Main: debug.Module{Version: "v1.1.0"}}
	require.Equal(t, "v1.2.3", versionFrom("v1.2.3", released).Version, "the stamp wins")
	require.Equal(t, "v1.1.0", versionFrom("", released).Version)
	require.Equal(t, "devel", versionFrom("", info).Version)
	require.Equal(t, "0123456789ab+changes", versionFrom("", info).Commit)
	require.Equal(t, "devel", versionFrom("", nil).Version)
	require.Regexp(t, `^floatrelay v1\.2\.3 \(commit 0123456789ab\+changes, go1\.\S+, \w+/\w+\)$`, versionFrom("v1.2.3", info).String())
	require.Regexp(t, `^\{"version":".+","commit":".*","go":"go1.+","os":"\w+","arch":"\w+"\}\n$`, cli(t, "version", "--json").out)
	require.Equal(t, currentVersion().String()+"\n", cli(t, "version").out)
}

func TestCompletion_IsOffered(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		got := cli(t, "completion", shell)
		require.Equal(t, exitOK, got.code)
		require.Contains(t, got.out, "floatrelay")
	}
}

func TestHiddenCommandsStayHidden(t *testing.T) {
	out := cli(t, "--help").out
	require.NotContains(t, out, "guard")
	require.NotContains(t, out, "standin")
}

func TestMain_UsesTheEnvironmentItIsGiven(t *testing.T) {
	t.Setenv("FLOATRELAY_API_ADDR", "127.0.0.1:1")
	got := cli(t, "config", "--json", "--config", ini(t))
	require.Equal(t, exitOK, got.code, got.err)
	require.NotContains(t, got.out, "127.0.0.1:1\"")
}
