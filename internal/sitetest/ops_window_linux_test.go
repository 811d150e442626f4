package sitetest

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
)

// window is a terminal: the master is what closing the window closes.
func window(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = master.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	return master, terminal
}

// `run` in a terminal whose window is closed hands the lease over as on Ctrl-C,
// although nobody is left to read what it prints.
func TestOps_ClosingTheWindowHandsOver(t *testing.T) {
	t.Parallel()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // a child inherits what is ignored, as under nohup, but no handler
	defer signal.Stop(heard)
	s := build(t, localsite.Options{Nodes: 2})
	n, next := s.Nodes[0], s.Nodes[1]
	master, terminal := window(t)
	cmd := exec.Command(exe, "run", "--config", n.ConfigPath())
	cmd.Env = append(os.Environ(), standin.LogEnv+"="+n.LifeLog())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, terminal.Close())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer procs.PowerCut(cmd.Process.Pid)
	st := s.status(n, "leads", func(st localapi.Status) bool { return st.Role == "leader" && st.Relay.State == "running" })
	require.NoError(t, next.Start())
	s.roster(1)

	require.NoError(t, master.Close())
	l, _ := s.leader(st.Epoch, slack)
	require.Equal(t, next.Station, l.Station)
	select {
	case err := <-ended:
		require.NoError(t, err, "a wanted end is no failure")
	case <-s.within(2 * slack).Done():
		require.Fail(t, "it does not end")
	}
	past, err := next.Client().History(t.Context())
	require.NoError(t, err)
	require.Condition(t, func() bool {
		return slices.ContainsFunc(past, func(e localapi.Past) bool { return e.Epoch > st.Epoch && e.Reason == "released" })
	}, "%+v", past)
}

// drain says what is true, of a leader that is alone as well.
func TestOps_DrainCommandSaysWhoLeads(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, Extra: steady()})
	n, next := s.Nodes[0], s.Nodes[1]
	require.NoError(t, n.Start())
	_, st := s.leader(0, 25*time.Second)
	code, text := opsCommand(t, n, "drain")
	require.Equal(t, 0, code, text)
	require.Contains(t, text, "this PC leads on until another PC can")
	s.stays(n, st.Epoch, time.Second)

	require.NoError(t, next.Start())
	l, after := s.leader(st.Epoch, 3*slack)
	require.Equal(t, next.Station, l.Station, "it hands over as soon as another can lead")
	code, text = opsCommand(t, next, "drain")
	require.Equal(t, 0, code, text)
	require.Contains(t, text, "leads on")
	s.stays(next, after.Epoch, time.Second)
	code, text = opsCommand(t, n, "undrain")
	require.Equal(t, 0, code, text)
	_, st = s.leader(after.Epoch, 3*slack)
	require.Greater(t, st.Epoch, after.Epoch)
	code, text = opsCommand(t, next, "drain")
	require.Equal(t, 0, code, text)
	require.Contains(t, text, "this PC will not lead")
}
