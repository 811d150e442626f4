package sitetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
)

// aside starts the daemon of a node by hand, in another way than the node does.
func (s *site) aside(n *localsite.Node, cmd *exec.Cmd) {
	s.t.Helper()
	cmd.Env = append(os.Environ(), standin.LogEnv+"="+n.LifeLog())
	require.NoError(s.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	s.t.Cleanup(func() {
		procs.PowerCut(cmd.Process.Pid)
		<-ended
	})
}

// copyProgram copies the program under test. A child that another test starts
// just then must not inherit the open copy: nobody could run it.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	body, err := os.ReadFile(exe)
	require.NoError(t, err)
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(to, body, 0o755))
}

// Row E03: a service starts in a folder of the system's. stk.ini is found beside
// the program, the path is said, and nothing is written where it was started.
func TestCaseE03_WorkingDirectoryIsSomewhereElse(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 1, Extra: quick()})
	n := s.Nodes[0]
	program := filepath.Join(n.Dir, filepath.Base(exe)) // beside the node's stk.ini
	copyProgram(t, program)
	system32 := t.TempDir()
	said, err := os.Create(filepath.Join(n.Dir, "said"))
	require.NoError(t, err)
	defer said.Close()
	cmd := exec.Command(program, "run")
	cmd.Dir, cmd.Stdout, cmd.Stderr = system32, said, said
	s.aside(n, cmd)
	s.status(n, "leads", func(st localapi.Status) bool { return st.Role == "leader" && st.Relay.State == "running" })
	real, err := filepath.EvalSymlinks(n.ConfigPath())
	require.NoError(t, err)
	s.until(slack, "the path of stk.ini is said", func() error {
		text, err := os.ReadFile(said.Name())
		if err == nil && !strings.Contains(string(text), filepath.Base(filepath.Dir(real))+string(filepath.Separator)+"stk.ini") {
			err = fmt.Errorf("it said: %s", text)
		}
		return err
	})
	names, err := os.ReadDir(system32)
	require.NoError(t, err)
	require.Empty(t, names)
}

// Row E07: somebody marks text in the console, or a pipe is read by nobody: the
// next line blocks. The lease does not.
func TestCaseE07_NobodyReadsTheOutput(t *testing.T) {
	t.Parallel()
	s := build(t, localsite.Options{Nodes: 2, Extra: steady(), Adjust: func(i int, keys map[string]string) {
		if i == 0 {
			keys["LOG_LEVEL"] = "debug"
		}
	}})
	n := s.Nodes[0]
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	t.Cleanup(func() { _ = r.Close() })
	cmd := exec.Command(exe, "run", "--config", n.ConfigPath())
	cmd.Stdout, cmd.Stderr = w, w
	s.aside(n, cmd)
	st := s.status(n, "leads", func(st localapi.Status) bool { return st.Role == "leader" && st.Relay.State == "running" })
	require.NoError(t, s.Nodes[1].Start())
	s.roster(1)
	filled := fill(w)
	t.Logf("the pipe took %d more bytes", filled)
	before, err := s.Head(t.Context())
	require.NoError(t, err)
	for end := time.Now().Add(2 * steadyTTL); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		got := s.status(n, "leads on", func(localapi.Status) bool { return true })
		require.Equal(t, "leader", got.Role)
		require.Equal(t, st.Epoch, got.Epoch)
	}
	after, err := s.Head(t.Context())
	require.NoError(t, err)
	require.Greater(t, after.Rev, before.Rev+3, "renewals went on")
	require.Zero(t, strings.Count(s.Nodes[1].Log(), "took the lease"))
}

// fill writes into a pipe until it takes no more. The last write ends with the
// pipe's reader.
func fill(w *os.File) (n int64) {
	var took atomic.Int64
	go func() {
		chunk := []byte(strings.Repeat("marked text ", 85) + "\n")
		for {
			k, err := w.Write(chunk)
			took.Add(int64(k))
			if err != nil {
				return
			}
		}
	}()
	for n = -1; n != took.Load(); time.Sleep(500 * time.Millisecond) {
		n = took.Load()
	}
	return n
}
