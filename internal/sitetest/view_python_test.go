//go:build python || e2e

package sitetest

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
)

// python is a running docs/examples/python/relay_client.py.
type python struct {
	t    *testing.T
	name string
	mu   sync.Mutex
	said []string
}

// runPython starts the example; it is ended with the test. A machine without
// python3 fails the test: whoever sets the build tag wants it to run.
func runPython(t *testing.T, name string, args ...string) *python {
	t.Helper()
	script, err := filepath.Abs("../../docs/examples/python/relay_client.py")
	require.NoError(t, err)
	interpreter, err := exec.LookPath("python3")
	require.NoError(t, err, "the tests with build tag python need python3")
	args = append([]string{"-X", "dev", "-W", "error", script, "--kmsn", localsite.KMSN, "--station", name}, args...)
	cmd := exec.Command(interpreter, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	p := &python{t: t, name: name}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.mu.Lock()
			p.said = append(p.said, lines.Text())
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-done
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, strings.Join(p.said, "\n"))
		}
	})
	return p
}

// says waits until the program has printed a line.
func (p *python) says(s *site, d time.Duration, line string) {
	p.t.Helper()
	s.until(d, fmt.Sprintf("%s says %q", p.name, line), func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, l := range p.said {
			if l == line {
				return nil
			}
			if strings.Contains(l, "Traceback") {
				return fmt.Errorf("it failed: %s", strings.Join(p.said, "\n"))
			}
		}
		return errNotYet
	})
}

// The Python example follows the relay, whether it reads the file or asks the
// local API: through the loss of the leading PC and through a handoff.
func TestPythonExampleFollowsTheRelay(t *testing.T) {
	t.Parallel()
	s, first, st := start(t, localsite.Options{Extra: quick()})
	view, api := filepath.Join(s.Share, "relay_leader.json"), "http://"
	s.roster(2)
	asked := s.others(first)[0]
	clients := []*python{
		runPython(t, "BY-VIEW", "--view", view),
		runPython(t, "BY-API", "--api", api+asked.API),
		// Its daemon is not there (any more): the file takes over.
		runPython(t, "BY-BOTH", "--view", view, "--api", api+first.API),
	}
	s.follow(clients, first, st)

	// A PC that is gone closes no connection: what the clients hold stays open
	// and silent, and only the epoch tells them.
	for _, pid := range procs.Tree(first.PID()) {
		require.NoError(t, procs.Freeze(pid))
	}
	second, st := s.leader(st.Epoch, fence+2*slack)
	s.follow(clients, second, st)
	first.PowerCut()

	// Only the asked daemon and one other are left: whoever leads, both stay.
	require.NoError(t, second.Client().Handoff(s.within(20*time.Second), ""))
	third, st := s.leader(st.Epoch, quickTTL+2*slack)
	require.NotEqual(t, second.Station, third.Station)
	s.follow(clients, third, st)
}

// follow waits until every client is at the relay of n, and sends each of them
// a frame through it.
func (s *site) follow(clients []*python, n *localsite.Node, st localapi.Status) {
	s.t.Helper()
	address := fmt.Sprintf("%s:%d", n.Addr, n.RelayPort)
	for _, p := range clients {
		p.says(s, 2*slack, fmt.Sprintf("connected %s epoch %d", address, st.Epoch))
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), slack)
	defer cancel()
	conn, err := standin.Dial(ctx, address, localsite.KMSN, "TEST")
	require.NoError(s.t, err)
	defer conn.Close()
	text := fmt.Sprintf(`{"type":"price","epoch":%d,"item":"功"}`, st.Epoch)
	require.NoError(s.t, standin.WriteFrame(conn, []byte(text)))
	for _, p := range clients {
		p.says(s, slack, "frame "+text)
	}
}
