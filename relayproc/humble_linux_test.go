package relayproc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// nobody is the user without rights.
const nobody = 65534

// publicDir is a temporary folder that any user may use.
func publicDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "relayproc-")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o777))
	return dir
}

// copyProgram copies this test program to path. No process is forked meanwhile:
// one that inherits the open file makes the copy "busy" for whoever runs it.
func copyProgram(t testing.TB, path string) {
	body, err := os.ReadFile(self(t))
	require.NoError(t, err)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, body, 0o755))
}

// publicSelf is a copy of this program that any user may run.
func publicSelf(t testing.TB) string {
	path := filepath.Join(publicDir(t), "relayproc.test")
	copyProgram(t, path)
	return path
}

// newHumbleWorld is a world whose daemon, guard and relay belong to nobody and
// may make no namespace: a user namespace in which the system permits no other
// stands for a system that permits none. Where this test itself has no rights,
// it already lives in such a place, or is told to behave as if.
func newHumbleWorld(t testing.TB, standinArgs ...string) *world {
	if os.Getuid() != 0 {
		w := newWorld(t, standinArgs...)
		w.spec.plain = true
		return w
	}
	w := newWorldIn(t, publicDir(t), standinArgs...)
	w.spec.Exe = publicSelf(t)
	w.humble = func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = w.spec.Exe, append([]string{w.spec.Exe, "humble"}, cmd.Args[1:]...)
		all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65536}}
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true}
	}
	return w
}

// beHumble gives up what rights there are and becomes what the arguments say.
func beHumble() {
	err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
	for _, step := range []func() error{
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setgid(nobody) },
		func() error { return syscall.Setuid(nobody) },
		func() error { return syscall.Exec(os.Args[0], append(os.Args[:1], os.Args[2:]...), os.Environ()) },
	} {
		if err == nil {
			err = step()
		}
	}
	fmt.Fprintln(os.Stderr, "become nobody:", err)
	os.Exit(1)
}

// requireHumble checks that the holder of d's tree is a supervisor, because the
// system permitted nothing better.
func requireHumble(t testing.TB, w *world, holder int) {
	cmdline, err := os.ReadFile(procPath(holder, "cmdline"))
	require.NoError(t, err)
	require.Contains(t, string(cmdline), InitArg+"\x00"+plainArg, "the tree has a namespace")
	if w.humble == nil {
		return
	}
	status, err := os.ReadFile(procPath(holder, "status"))
	require.NoError(t, err)
	require.Contains(t, string(status), "Uid:\t"+strconv.Itoa(nobody))
	require.Contains(t, string(status), "CapEff:\t0000000000000000")
}

// sayReserved says what is in the way of the port given.
func sayReserved() {
	port, _ := strconv.Atoi(os.Args[2])
	fmt.Println(ReservedPort("127.0.0.1", port))
}

// TestPorts_ReservedBySystem: a port that needs rights which the account does
// not have is called reserved, not held.
func TestPorts_ReservedBySystem(t *testing.T) {
	w := newHumbleWorld(t)
	cmd := exec.Command(w.spec.Exe, "reserved", "7")
	if w.humble != nil {
		w.humble(cmd)
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "port 7 is reserved by the system")
	require.NoError(t, ReservedPort("127.0.0.1", freePorts(t)))
}

// inCgroup starts what humble changes in the control group path.
func inCgroup(t testing.TB, path string, humble func(*exec.Cmd)) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		humble(cmd)
		dir, err := os.Open(path)
		require.NoError(t, err)
		t.Cleanup(func() { dir.Close() })
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(dir.Fd())
	}
}
