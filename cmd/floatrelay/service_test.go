package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestService_Usage(t *testing.T) {
	for line, text := range map[string]string{
		"":    "service needs one of: install, uninstall, start, stop, status",
		"foo": `unknown command "foo"`,
	} {
		args := []string{"service"}
		if line != "" {
			args = append(args, line)
		}
		got := cli(t, args...)
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, text)
	}
}

// What would be installed names absolute paths, whatever the working directory
// and however stk.ini was named.
func TestService_InstallPrint(t *testing.T) {
	file := ini(t)
	exe, err := os.Executable()
	require.NoError(t, err)
	t.Chdir(filepath.Dir(file))
	got := cli(t, "service", "install", "--print", "--config", "stk.ini")
	require.Equal(t, exitOK, got.code, got.err)
	require.Contains(t, got.out, file)
	require.Contains(t, got.out, exe)
}

// What only this console's environment says would be missing in the service.
func TestService_InstallRefusesWhatOnlyTheEnvironmentSays(t *testing.T) {
	complete := ini(t)
	bare := filepath.Join(t.TempDir(), "stk.ini")
	require.NoError(t, os.WriteFile(bare, []byte("KMSN=1\nSTATION=A\nLEASE_DIR="+filepath.Dir(bare)+"\n"), 0o600))
	install := func(file string, env ...string) result {
		return cliContext(t.Context(), env, "service", "install", "--print", "--config", file)
	}
	got := install(bare, "FLOATRELAY_RELAY_TOKEN=a-token-that-is-long-enough", "FLOATRELAY_LEASE_SMB_PASSWORD=hidden")
	require.Equal(t, exitUsage, got.code)
	require.Empty(t, got.out)
	require.Contains(t, got.err, "FLOATRELAY_RELAY_TOKEN is set here, but a service does not get")
	require.Contains(t, got.err, "FLOATRELAY_LEASE_SMB_PASSWORD is set here")
	require.Contains(t, got.err, "RELAY_TOKEN is missing")
	require.NotContains(t, got.err, "hidden")

	got = install(complete, "FLOATRELAY_LEASE_DIR=smb://relay@nas/pos/socket")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "write LEASE_DIR into "+complete)
	require.Equal(t, exitUsage, install(complete, "FLOATRELAY_LEASE_TTL=99").code, "refused values as well")

	got = install(complete, "FLOATRELAY_RELAY_TOKEN="+testToken, "FLOATRELAY_KMSN=", "FLOATRELAY_SERVICE_PASSWORD=x")
	require.Equal(t, exitOK, got.code, "the same as in the file, empty, or no setting: %s", got.err)
}

func TestService_InstallMissesThePasswordOfTheShare(t *testing.T) {
	const share, remark = "LEASE_DIR=smb://relay@nas/pos/socket", "has no LEASE_SMB_PASSWORD"
	got := cli(t, "service", "install", "--print", "--config", ini(t, share))
	require.Equal(t, exitOK, got.code, got.err)
	require.Contains(t, got.err, remark)
	got = cli(t, "service", "install", "--print", "--config", ini(t, share, "LEASE_SMB_PASSWORD=0123456789abcdef"))
	require.NotContains(t, got.err, remark)
}

func TestService_InstallPrintsTheFirewallToo(t *testing.T) {
	file := ini(t, "GOSSIP_PORT=7000")
	rules := cli(t, "firewall", "--config", file).out
	got := cli(t, "service", "install", "--print", "--firewall", "--config", file)
	require.Equal(t, exitOK, got.code, got.err)
	require.True(t, strings.HasSuffix(got.out, "\n# firewall\n"+rules), got.out)
	require.NotContains(t, cli(t, "service", "install", "--print", "--config", file).out, "firewall")
}

func TestService_InstallPrintJSON(t *testing.T) {
	file := ini(t)
	got := cli(t, "service", "install", "--print", "--firewall", "--json", "--config", file)
	require.Equal(t, exitOK, got.code, got.err)
	var j struct {
		Service, Account  string
		Command, Firewall []string
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &j), got.out)
	require.Equal(t, "floatrelay", j.Service)
	require.NotEmpty(t, j.Account)
	require.Contains(t, j.Command, file)
	require.Len(t, j.Firewall, 3)
}

func TestService_InstallPrintChecksThePassword(t *testing.T) {
	got := cli(t, "service", "install", "--print", "--password", "x", "--config", ini(t))
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "a password without a user")
	require.Empty(t, got.out)
}

func TestService_InstallNeedsAConfiguration(t *testing.T) {
	got := cli(t, "service", "install", "--config", filepath.Join(t.TempDir(), "none.ini"))
	require.Equal(t, exitUsage, got.code)
	got = cli(t, "service", "install", "--config", ini(t, "LEASE_TTL=99"))
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "LEASE_TTL=99")
}

func TestFirewall_PrintsItsCommands(t *testing.T) {
	file := ini(t, "GOSSIP_PORT=7000", "RELAY_PORT=9000")
	got := cli(t, "firewall", "--config", file)
	require.Equal(t, exitOK, got.code, got.err)
	require.Contains(t, got.out, "7000")
	require.Regexp(t, "9000[-,]9001", got.out)
	var j map[string][]string
	require.NoError(t, json.Unmarshal([]byte(cli(t, "firewall", "--json", "--config", file).out), &j))
	require.Len(t, j["commands"], 3)
}
