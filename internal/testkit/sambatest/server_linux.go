package sambatest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/procs"
)

// The account every server knows. It is a user of the system, as Samba wants;
// the password is the server's own.
const (
	User     = "root"
	Password = "Geheim-123"
)

// Share is the name of the share that can be written; ReadOnly shows the same
// folder to readers.
const (
	Share    = "relay"
	ReadOnly = "readonly"
)

// Options say where a server runs.
type Options struct {
	Host string   // address to listen on; empty means 127.0.0.1
	Port int      // zero means any free one
	Wrap []string // command to run smbd by, such as ip netns exec NAME
	// Disk is called with the folder before the server starts, to put a disk of
	// its own there. smbd may live in another mount namespace later on.
	Disk func(folder string)
}

// Server is one Samba server with one folder.
type Server struct {
	Host   string
	Port   int
	Folder string // what the share holds, on this machine

	dir  string
	wrap []string
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs a server until the test ends.
func Start(t testing.TB, opt Options) *Server {
	t.Helper()
	s := &Server{Host: opt.Host, Port: opt.Port, wrap: opt.Wrap, dir: t.TempDir()}
	if s.Host == "" {
		s.Host = "127.0.0.1"
	}
	if s.Port == 0 {
		s.Port = freePort(t, s.Host)
	}
	s.Folder = filepath.Join(s.dir, "share")
	for _, d := range []string{"share", "private", "lock", "state", "cache", "pid", "ncalrpc", "log"} {
		require.NoError(t, os.MkdirAll(filepath.Join(s.dir, d), 0o755))
	}
	if opt.Disk != nil {
		opt.Disk(s.Folder)
	}
	require.NoError(t, os.WriteFile(s.conf(), []byte(s.config()), 0o600))
	add := exec.Command("smbpasswd", "-c", s.conf(), "-s", "-a", User)
	add.Stdin = strings.NewReader(Password + "\n" + Password + "\n")
	out, err := add.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(s.Stop)
	s.Run(t)
	return s
}

func (s *Server) conf() string { return filepath.Join(s.dir, "smb.conf") }

func (s *Server) config() string {
	dirs := ""
	for _, d := range []string{"private", "lock", "state", "cache", "pid", "ncalrpc"} {
		key := d + " dir"
		if d == "lock" || d == "state" || d == "cache" || d == "pid" {
			key = d + " directory"
		}
		dirs += fmt.Sprintf("  %s = %s\n", key, filepath.Join(s.dir, d))
	}
	return "[global]\n" + dirs + fmt.Sprintf(`  server role = standalone server
  workgroup = TEST
  netbios name = SERVER
  disable netbios = yes
  smb ports = %d
  interfaces = %s
  bind interfaces only = yes
  passdb backend = tdbsam:%s/private/passdb.tdb
  log file = %s/log/smbd
  log level = 1
  load printers = no
  disable spoolss = yes
  map to guest = never
  server min protocol = SMB2
  dfree cache time = 0
[%s]
  path = %s
  read only = no
[%s]
  path = %s
  read only = yes
`, s.Port, s.Host, s.dir, s.dir, Share, s.Folder, ReadOnly, s.Folder)
}

// Run starts a stopped server again, on the same port with the same folder,
// and waits until it accepts connections.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	args := append(append([]string{}, s.wrap...), "smbd", "--foreground", "--no-process-group",
		"-s", s.conf(), "-l", filepath.Join(s.dir, "log"))
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, s.cmd.Start())
	s.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		_ = cmd.Wait()
		close(done)
	}(s.cmd, s.done)
	require.Eventually(t, s.accepts, 20*time.Second, 20*time.Millisecond, "smbd does not answer on %s", s.Addr())
}

// accepts asks the server from where it runs.
func (s *Server) accepts() bool {
	if len(s.wrap) > 0 {
		ss := append(append([]string{}, s.wrap...), "ss", "-Hltn", fmt.Sprintf("sport = :%d", s.Port))
		out, err := exec.Command(ss[0], ss[1:]...).Output()
		return err == nil && len(out) > 0
	}
	c, err := net.DialTimeout("tcp", s.Addr(), time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Stop ends the server with all its connections at once.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.done
	s.cmd = nil
}

// Freeze stops the server's processes without ending them.
func (s *Server) Freeze() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGSTOP) }

// ResetConnections ends every connection; the server itself goes on. Each is a
// process of its own below the one that listens.
func (s *Server) ResetConnections() {
	for _, pid := range procs.Tree(s.cmd.Process.Pid)[1:] {
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(comm), "client") || !strings.Contains(string(comm), "notifyd") && !strings.Contains(string(comm), "cleanupd") {
			procs.Kill(pid)
		}
	}
}

// Resume lets a frozen server go on.
func (s *Server) Resume() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGCONT) }

// Addr is host:port.
func (s *Server) Addr() string { return net.JoinHostPort(s.Host, fmt.Sprint(s.Port)) }

// URL is the address of a folder on the writable share.
func (s *Server) URL(folder string) string { return URL(s.Addr(), Share, folder) }

// URL is the address of a folder on a server reached as addr.
func URL(addr, share, folder string) string {
	return fmt.Sprintf("smb://%s@%s/%s/%s", User, addr, share, folder)
}

func freePort(t testing.TB, host string) int {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
