package sitetest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/standin"
)

// opsUnit starts what the unit of `service install` says, as systemd would: no
// environment, working directory /, told where to report.
type opsUnit struct {
	t      *testing.T
	argv   []string
	socket *net.UnixConn
	addr   string
	life   string // where the stand-in relay writes that it lives
	cmd    *exec.Cmd
}

func opsInstalled(t *testing.T, program, config string) *opsUnit {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, "service", "install", "--print", "--config", config).Output()
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(string(out))
	require.NotNil(t, line, string(out))
	u := &opsUnit{t: t, addr: filepath.Join(t.TempDir(), "notify")}
	for _, word := range regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`).FindAllStringSubmatch(line[1], -1) {
		u.argv = append(u.argv, strings.NewReplacer(`\\`, `\`, `\"`, `"`, "%%", "%", "$$", "$").Replace(word[1]))
	}
	u.socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: u.addr, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = u.socket.Close() })
	return u
}

func (u *opsUnit) start() {
	u.t.Helper()
	u.cmd = exec.Command(u.argv[0], u.argv[1:]...)
	u.cmd.Dir, u.cmd.Env = "/", []string{"NOTIFY_SOCKET=" + u.addr, standin.LogEnv + "=" + u.life}
	u.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(u.t, u.cmd.Start())
	u.t.Cleanup(func() { _ = u.cmd.Process.Kill() })
	u.told("READY=1")
}

func (u *opsUnit) told(want string) {
	u.t.Helper()
	require.NoError(u.t, u.socket.SetReadDeadline(time.Now().Add(slack)))
	var b [64]byte
	n, err := u.socket.Read(b[:])
	require.NoError(u.t, err)
	require.Equal(u.t, want, string(b[:n]))
}

// Installed below a path with blanks and Chinese characters, started as systemd
// does, crashed, started again, stopped: the lease is given back each time, and
// nothing is written into the working directory.
func TestOps_ServiceLife(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 1, Dir: filepath.Join(t.TempDir(), "許功蓋 50% $x")})
	n := s.Nodes[0]
	// By another name it would take the daemons of other tests, whose program is
	// its RELAY_EXE, for relays that somebody else started.
	program := filepath.Join(s.Dir, "float relay 功", filepath.Base(exe))
	require.NoError(t, os.Mkdir(filepath.Dir(program), 0o755))
	copyProgram(t, program)
	u := opsInstalled(t, program, n.ConfigPath())
	u.life = n.LifeLog()
	require.Equal(t, program, u.argv[0])
	leads := func(st localapi.Status) bool { return st.Role == "leader" && st.Relay.State == "running" }

	u.start()
	first := s.status(n, "leads", leads)
	require.NoError(t, u.cmd.Process.Kill()) // systemd's KillMode=process leaves the guard alone
	require.Error(t, u.cmd.Wait())
	s.until(slack, "the guard gives the lease back", func() error {
		r, err := s.Head(t.Context())
		if err == nil && r.State != "released" {
			return errNotYet
		}
		return err
	})
	s.gone(n, first.Epoch)

	u.start()
	second := s.status(n, "leads again", leads)
	require.Greater(t, second.Epoch, first.Epoch)
	begun := time.Now()
	require.NoError(t, u.cmd.Process.Signal(syscall.SIGTERM))
	u.told("STOPPING=1")
	require.NoError(t, u.cmd.Wait(), "a wanted stop is no failure")
	require.Less(t, time.Since(begun), 2*slack)
	r, err := s.Head(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, "released", r.State)
	s.gone(n, second.Epoch)
}
