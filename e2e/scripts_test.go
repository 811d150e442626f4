//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// archive builds a release of this system's kind and unpacks it on the machine.
func (m *machine) archive(version string) (folder string) {
	m.t.Helper()
	out := m.t.TempDir()
	cmd := exec.Command("go", "run", "./internal/testkit/dist", "-only", "linux/"+runtime.GOARCH, "-version", version, "-out", out)
	cmd.Dir = ".."
	text, err := cmd.CombinedOutput()
	require.NoError(m.t, err, string(text))
	name := "floatrelay-" + version + "-linux-" + runtime.GOARCH
	body, err := os.ReadFile(filepath.Join(out, name+".tar.gz"))
	require.NoError(m.t, err)
	unpack := exec.Command("nsenter", m.enter("tar", "-xz", "-C", "/opt")...)
	stdin, err := unpack.StdinPipe()
	require.NoError(m.t, err)
	require.NoError(m.t, unpack.Start())
	_, err = stdin.Write(body)
	require.NoError(m.t, err)
	require.NoError(m.t, stdin.Close())
	require.NoError(m.t, unpack.Wait())
	return "/opt/" + name
}

// The scripts of a release on a machine with a real systemd and a real firewall:
// installed with one command from a site.ini, upgraded, rolled back, removed.
func TestScripts_OnARealSystemd(t *testing.T) {
	m := newMachine(t)
	m.must("rm", "-f", "/usr/local/bin/floatrelay") // what the script installs is what counts
	m.must("nft", "add table inet filter; add chain inet filter input { type filter hook input priority 0; policy accept; }")
	m.must("nft", "add rule inet filter input tcp dport 22 accept")
	before := m.must("nft", "list", "chain", "inet", "filter", "input")
	m.must("sh", "-c", `umask 077; printf '%s' "$1" >/opt/site.ini`, "sh", m.keys("/usr/local/bin/floatrelay"))
	says := func(version string) {
		t.Helper()
		require.Contains(t, m.must("floatrelay", "version"), version)
		require.Contains(t, m.must("floatrelay", "members", "--config", machineINI), version)
	}

	first := m.archive("v1")
	m.must(first+"/install.sh", "--site-ini", "/opt/site.ini", "--station", "POS-07", "--firewall")
	one := m.leads(0)
	says("v1")
	require.Contains(t, m.must("nft", "list", "chain", "inet", "filter", "input"), "9530-9531 accept")

	second := m.archive("v2")
	m.must(second + "/install.sh")
	two := m.leads(one.Epoch)
	says("v2")
	m.must(second+"/install.sh", "--rollback")
	m.leads(two.Epoch)
	says("v1")

	m.must(second+"/uninstall.sh", "--firewall", "--purge")
	require.Equal(t, before, m.must("nft", "list", "chain", "inet", "filter", "input"))
	for _, path := range []string{machineINI, "/usr/local/bin/floatrelay", "/usr/local/bin/floatrelay.previous", "/var/lib/floatrelay"} {
		_, err := m.in("test", "-e", path)
		require.Error(t, err, "%s is left", path)
	}
	m.nothingLeft()
	m.once(3)
}
