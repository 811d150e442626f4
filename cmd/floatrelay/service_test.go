package main

import (
	"encoding/json"
	"os"
	"path/filepath"
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
