//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
)

// machine is one PC with a real systemd as its first process, in namespaces of
// its own (testdata/boot.sh). Its disk outlives a power cut.
type machine struct {
	t    *testing.T
	disk string
	cmd  *exec.Cmd
}

// Paths inside a machine.
const (
	machineINI   = "/etc/floatrelay/stk.ini"
	machineShare = "/srv/share"
	machineLife  = "/srv/life"
)

// newMachine makes a machine's disk, with a share on it that holds a chain, and
// boots it. The stand-in relays on it write their life log.
func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{t: t, disk: t.TempDir()}
	run(t, "mount", "-t", "tmpfs", "-o", "mode=755", "floatrelay-e2e", m.disk)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(m.journal())
		}
		m.PowerOff()
		require.NoError(t, syscall.Unmount(m.disk, 0), "something still uses the machine's disk")
	})
	require.NoError(t, os.MkdirAll(m.path(machineShare), 0o755))
	m.write("/etc/systemd/system.conf", fmt.Sprintf("[Manager]\nDefaultEnvironment=%s=%s\n", standin.LogEnv, machineLife), 0o644)
	m.copy(*exe, "/usr/local/bin/floatrelay")
	_, err := localsite.Found(m.path(machineShare))
	require.NoError(t, err)
	m.Boot()
	return m
}

// keys are a site's settings on a machine.
func (m *machine) keys(relay string) string {
	return strings.Join([]string{
		"KMSN=" + localsite.KMSN, "RELAY_TOKEN=" + localsite.Token, "LEASE_DIR=" + machineShare,
		"RELAY_EXE=" + relay, "RELAY_ARGS=standin -listen 0.0.0.0", "",
	}, "\r\n")
}

// path is a file of the machine as this system reaches it. Only before the first
// boot, and while it is off, may it be written.
func (m *machine) path(name string) string { return filepath.Join(m.disk, "upper", name) }

func (m *machine) write(name, text string, mode os.FileMode) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(m.path(name)), 0o755))
	require.NoError(m.t, os.WriteFile(m.path(name), []byte(text), mode))
}

func (m *machine) copy(from, to string) {
	m.t.Helper()
	body, err := os.ReadFile(from)
	require.NoError(m.t, err)
	m.write(to, string(body), 0o755)
}

// Boot switches the machine on and waits until its systemd has started all it
// has to.
func (m *machine) Boot() {
	m.t.Helper()
	script, err := filepath.Abs("testdata/boot.sh")
	require.NoError(m.t, err)
	var text bytes.Buffer
	m.cmd = exec.Command("unshare", "--mount", "--propagation", "private", "sh", script, m.disk, m.group())
	m.cmd.Stdout, m.cmd.Stderr = &text, &text
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // and the machine with it
	require.NoError(m.t, m.cmd.Start())
	m.await(30*time.Second, "systemd does not come up", func() error {
		if m.init() == 0 {
			return errors.New("no first process yet: " + text.String())
		}
		out, err := m.in("systemctl", "is-system-running")
		if state := strings.TrimSpace(out); state != "running" && state != "degraded" {
			return fmt.Errorf("it is %q: %w: %s", state, err, text.String())
		}
		return nil
	})
}

func (m *machine) group() string { return fmt.Sprintf("%smachine-%d", prefix, os.Getpid()) }

// init is the machine's first process as this system numbers it, or 0.
func (m *machine) init() int {
	for _, pid := range procs.Tree(m.cmd.Process.Pid) {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(name) == "systemd\n" && pid != m.cmd.Process.Pid {
			return pid
		}
	}
	return 0
}

// PowerOff ends the machine at once, as a power cut does.
func (m *machine) PowerOff() {
	if m.cmd == nil {
		return
	}
	if pid := m.init(); pid != 0 {
		procs.Kill(pid) // and with the first process every other
	}
	procs.Kill(m.cmd.Process.Pid)
	_ = m.cmd.Wait()
	m.cmd = nil
	m.removeGroup()
}

// removeGroup removes the machine's cgroups, which are empty now.
func (m *machine) removeGroup() {
	m.t.Helper()
	script := `mount -t cgroup2 cgroup2 "$1" && cd "$1" && find "$2" -depth -type d -exec rmdir {} +`
	m.await(10*time.Second, "the machine's processes do not end", func() error {
		out, err := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", m.t.TempDir(), m.group()).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// enter are the arguments of nsenter that run a command on the machine.
func (m *machine) enter(args ...string) []string {
	return append([]string{"-t", fmt.Sprint(m.init()), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "--",
		"env", "-i", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SYSTEMD_PAGER="}, args...)
}

// in runs a command on the machine and returns all it says.
func (m *machine) in(args ...string) (string, error) {
	out, err := exec.Command("nsenter", m.enter(args...)...).CombinedOutput()
	return string(out), err
}

// must is in for what has to succeed.
func (m *machine) must(args ...string) string {
	m.t.Helper()
	out, err := m.in(args...)
	require.NoError(m.t, err, "%s: %s", strings.Join(args, " "), out)
	return out
}

// leads waits until the machine's daemon leads, with its relay running, in a
// newer tenure than after, and returns its status.
func (m *machine) leads(after uint64) (st localapi.Status) {
	m.t.Helper()
	m.await(40*time.Second, "the machine does not lead", func() error {
		out, err := m.in("floatrelay", "status", "--json", "--config", machineINI)
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		st = localapi.Status{}
		if err := json.Unmarshal([]byte(out), &st); err != nil {
			return err
		}
		if st.Role != "leader" || st.Relay.State != "running" || st.Epoch <= after {
			return fmt.Errorf("status is %s", out)
		}
		return nil
	})
	return st
}

// nothingLeft demands that soon no process of floatrelay and no mark of its
// service is left on the machine.
func (m *machine) nothingLeft() {
	m.t.Helper()
	m.await(20*time.Second, "something is left", func() error {
		for _, pid := range procs.Tree(m.init()) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if strings.Contains(string(line), "floatrelay") {
				return fmt.Errorf("process %d: %s", pid, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		for _, ask := range []string{
			"systemctl list-unit-files --no-legend floatrelay* || true",
			"systemctl list-units --no-legend --all --failed floatrelay*",
			"find /etc/systemd /run/systemd -name 'floatrelay*'",
			"find /sys/fs/cgroup -name 'floatrelay-*'",
			// The unit's own group, once it is empty, is systemd's to remove when it likes.
			"find /sys/fs/cgroup -path '*/floatrelay*/cgroup.events' -exec grep -l 'populated 1' {} + || true",
		} {
			if out, err := m.in("sh", "-c", ask); err != nil || strings.TrimSpace(out) != "" {
				return fmt.Errorf("%s: %s (%v)", ask, out, err)
			}
		}
		return nil
	})
}

// once demands that relays lived on the machine, so many tenures, and never two
// at once.
func (m *machine) once(tenures int) {
	m.t.Helper()
	spans, err := standin.ReadLife(m.path(machineLife))
	require.NoError(m.t, err)
	epochs := map[uint64]bool{}
	for _, s := range spans {
		epochs[s.Epoch] = true
	}
	require.Len(m.t, epochs, tenures, "%+v", spans)
	require.LessOrEqual(m.t, standin.Overlap(spans), time.Duration(0))
}

func (m *machine) journal() string {
	if m.cmd == nil || m.init() == 0 {
		return "the machine is off"
	}
	out, _ := m.in("journalctl", "--no-pager", "-n", "80", "-o", "cat", "-u", "floatrelay")
	units, _ := m.in("systemctl", "--no-pager", "--failed")
	return units + "\n" + out
}

func (m *machine) await(limit time.Duration, what string, try func() error) {
	m.t.Helper()
	var err error
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	require.NoError(m.t, err, "%s within %v", what, limit)
}
