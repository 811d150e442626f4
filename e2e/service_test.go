//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The service of a real systemd: installed and started with one command, back by
// itself after a crash and after a power cut, stopped, removed without a trace.
func TestService_OfARealSystemd(t *testing.T) {
	m := newMachine(t)
	m.must("mkdir", "-p", "/etc/floatrelay")
	m.must("sh", "-c", `umask 077; printf '%s' "$1" >`+machineINI, "sh", "STATION=POS-01\r\n"+m.keys("/usr/local/bin/floatrelay"))

	require.Contains(t, m.must("floatrelay", "service", "install", "--start", "--config", machineINI), "installed and started")
	require.Equal(t, "running\n", m.must("floatrelay", "service", "status"))
	require.Equal(t, "enabled\n", m.must("systemctl", "is-enabled", "floatrelay"))
	require.NotContains(t, m.must("systemd-analyze", "verify", "--man=no", "/etc/systemd/system/floatrelay.service"), "floatrelay.service")
	first := m.leads(0)

	// Its daemon crashes: the guard gives the lease back, systemd starts it again.
	m.must("systemctl", "kill", "--kill-who=main", "--signal=KILL", "floatrelay")
	second := m.leads(first.Epoch)
	require.Contains(t, m.must("floatrelay", "history", "--config", machineINI), fmt.Sprintf("epoch %d (released)", second.Epoch), "the guard gave the lease back")
	require.Equal(t, "1\n", m.must("systemctl", "show", "--value", "-p", "NRestarts", "floatrelay"))

	m.PowerOff()
	m.Boot()
	third := m.leads(second.Epoch) // nobody asked for it
	require.Contains(t, m.must("floatrelay", "history", "--config", machineINI), fmt.Sprintf("epoch %d (ttl)", third.Epoch), "another boot: its own record is as good as anybody's")
	require.Equal(t, "running\n", m.must("floatrelay", "service", "status"))

	begun := time.Now()
	m.must("floatrelay", "service", "stop")
	require.Less(t, time.Since(begun), 10*time.Second)
	out, err := m.in("floatrelay", "service", "status")
	require.Error(t, err)
	require.Equal(t, "stopped\n", out)
	require.Equal(t, "success\n", m.must("systemctl", "show", "--value", "-p", "Result", "floatrelay"), "a wanted stop is no failure")
	require.Contains(t, m.must("floatrelay", "history", "--config", machineINI), "gave the lease back (stop)")

	m.must("floatrelay", "service", "start")
	m.leads(third.Epoch)
	m.must("floatrelay", "service", "uninstall") // of one that runs
	out, err = m.in("floatrelay", "service", "status")
	require.Error(t, err)
	require.Equal(t, "not installed\n", out)
	m.nothingLeft()
	m.once(4)

	m.PowerOff()
	m.Boot()
	m.nothingLeft()
}

// The same for an account of its own: STATE_DIR is made for it, the relay runs
// as nobody else.
func TestService_OfAnAccount(t *testing.T) {
	m := newMachine(t)
	m.must("useradd", "--system", "--no-create-home", "relay")
	m.must("chown", "-R", "relay", machineShare)
	m.must("install", "-o", "relay", "-m", "644", "/dev/null", machineLife)
	m.must("mkdir", "-p", "/etc/floatrelay")
	m.must("sh", "-c", `printf '%s' "$1" >`+machineINI, "sh", "STATION=POS-01\r\n"+m.keys("/usr/local/bin/floatrelay"))
	m.must("sh", "-c", "chown relay "+machineINI+" && chmod 600 "+machineINI)

	m.must("floatrelay", "service", "install", "--user", "relay", "--start", "--config", machineINI)
	first := m.leads(0)
	users := m.must("sh", "-c", "ps -eo user:20,args | grep '[f]loatrelay' | awk '{print $1}' | sort -u")
	require.Equal(t, "relay\n", users)
	require.Equal(t, "relay 700\n", m.must("stat", "-c", "%U %a", "/var/lib/floatrelay"))
	m.PowerOff()
	m.Boot()
	m.leads(first.Epoch)
	m.must("floatrelay", "service", "uninstall")
	m.nothingLeft()
	m.once(2)
	require.NotContains(t, strings.TrimSpace(m.must("ps", "-eo", "args")), "standin")
}

// Without a network the service counts as started all the same, waits, and may
// be stopped without having failed; with one it goes on by itself.
func TestService_WithoutANetwork(t *testing.T) {
	m := newMachine(t)
	m.must("mkdir", "-p", "/etc/floatrelay")
	m.must("sh", "-c", `umask 077; printf '%s' "$1" >`+machineINI, "sh", "STATION=POS-01\r\n"+m.keys("/usr/local/bin/floatrelay"))
	m.must("ip", "addr", "flush", "dev", "eth0")

	begun := time.Now()
	m.must("floatrelay", "service", "install", "--start", "--config", machineINI)
	require.Less(t, time.Since(begun), 15*time.Second, "it does not wait for the network")
	require.Equal(t, "running\n", m.must("floatrelay", "service", "status"))
	m.must("floatrelay", "service", "stop")
	require.Equal(t, "success\n", m.must("systemctl", "show", "--value", "-p", "Result", "floatrelay"), "a wanted stop is no failure")

	m.must("floatrelay", "service", "start")
	m.must("ip", "addr", "add", "10.77.0.11/24", "dev", "eth0")
	m.leads(0)
	require.Equal(t, "0\n", m.must("systemctl", "show", "--value", "-p", "NRestarts", "floatrelay"))
	m.must("floatrelay", "service", "uninstall")
	m.nothingLeft()
	m.once(1)
}
