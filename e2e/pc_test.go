//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
)

// passwordEnv hands a process the password of the share.
const passwordEnv = "FLOATRELAY_LEASE_SMB_PASSWORD=" + sambatest.Password

// pc is one PC of a site.
type pc struct {
	s       *site
	port    string // of the switch
	station string
	ip      string
	ns      string
	dir     string

	cmd  *exec.Cmd
	done chan struct{}
}

func (p *pc) lifeLog() string { return filepath.Join(p.dir, "life") }
func (p *pc) logPath() string { return filepath.Join(p.dir, "log") }

func (p *pc) configure(extra map[string]string) {
	keys := map[string]string{
		"KMSN": kmsn, "STATION": p.station, "RELAY_TOKEN": token, "LEASE_DIR": p.s.url,
		"RELAY_EXE": *exe, "RELAY_ARGS": "standin -listen 0.0.0.0", "STATE_DIR": filepath.Join(p.dir, "state"), "LOG_FILE": "",
	}
	for k, v := range extra {
		keys[k] = v
	}
	text := ""
	for k, v := range keys {
		text += k + "=" + v + "\r\n"
	}
	require.NoError(p.s.t, os.MkdirAll(p.dir, 0o755))
	require.NoError(p.s.t, os.WriteFile(filepath.Join(p.dir, "stk.ini"), []byte(text), 0o600))
}

// Start starts the PC's daemon.
func (p *pc) Start() {
	log, err := os.OpenFile(p.logPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	require.NoError(p.s.t, err)
	defer log.Close()
	p.cmd = exec.Command("ip", "netns", "exec", p.ns, *exe, "run", "--config", filepath.Join(p.dir, "stk.ini"))
	p.cmd.Env = append(os.Environ(), standin.LogEnv+"="+p.lifeLog(), passwordEnv)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(p.s.t, p.cmd.Start())
	p.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(p.cmd, p.done)
}

func (p *pc) pid() int { return p.cmd.Process.Pid }

// Stop asks the daemon to end and waits.
func (p *pc) Stop() {
	require.NoError(p.s.t, procs.Ask(p.pid()))
	select {
	case <-p.done:
	case <-time.After(15 * time.Second):
		require.Fail(p.s.t, "the daemon of "+p.station+" does not end")
	}
}

// PowerCut ends everything on the PC at once.
func (p *pc) PowerCut() {
	if p.cmd != nil {
		procs.PowerCut(p.pid())
		<-p.done
	}
}

// KillDaemon ends the daemon alone.
func (p *pc) KillDaemon() {
	procs.Kill(p.pid())
	<-p.done
}

// FreezeDaemon stops the daemon; guard and relay go on.
func (p *pc) FreezeDaemon() { require.NoError(p.s.t, procs.Freeze(p.pid())) }

// ResumeDaemon lets it go on.
func (p *pc) ResumeDaemon() { require.NoError(p.s.t, procs.Resume(p.pid())) }

// FreezeAll stops every process of the PC, ResumeAll lets them go on.
func (p *pc) FreezeAll() (pids []int) {
	pids = procs.Tree(p.pid())
	for _, id := range pids {
		_ = procs.Freeze(id)
	}
	return pids
}

// ResumeAll lets what FreezeAll stopped go on.
func (p *pc) ResumeAll(pids []int) {
	for _, id := range pids {
		_ = procs.Resume(id)
	}
}

// Readdress gives the PC another address, as DHCP may.
func (p *pc) Readdress(ip string) {
	run(p.s.t, "ip", "-n", p.ns, "addr", "del", p.ip+"/24", "dev", "eth0")
	run(p.s.t, "ip", "-n", p.ns, "addr", "add", ip+"/24", "dev", "eth0")
	run(p.s.t, "ip", "-n", p.ns, "route", "replace", "default", "via", gatewayIP)
	p.ip = ip
}

// NewCard gives the PC another hardware address, which makes this another boot
// of it.
func (p *pc) NewCard(mac string) {
	run(p.s.t, "ip", "-n", p.ns, "link", "set", "eth0", "address", mac)
}

// tail is the end of the PC's log, for a failure.
func (p *pc) tail() string {
	b, _ := os.ReadFile(p.logPath())
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return fmt.Sprintf("--- %s\n%s\n", p.station, strings.Join(lines[max(0, len(lines)-40):], "\n"))
}
