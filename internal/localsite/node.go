package localsite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/standin"
)

// Node is one PC of a site.
type Node struct {
	Station    string
	Dir        string
	Share      string // the share as this node reaches it
	Addr       string // the address told to the others, and the relay's
	Bind       string // the address its gossip listens on
	RelayPort  int
	GossipPort int
	API        string

	exe  string
	keys map[string]string // what stands in stk.ini
	mu   sync.Mutex
	run  *running
}

// running is one start of a daemon.
type running struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
	err  error
}

// Set changes keys of the node's stk.ini; an empty value takes one out. The
// daemon reads them at its next start.
func (n *Node) Set(keys map[string]string) error {
	all := maps.Clone(n.keys)
	maps.Copy(all, keys)
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	return n.write(all)
}

func (n *Node) write(keys map[string]string) error {
	n.keys = keys
	var lines []string
	for k, v := range keys {
		lines = append(lines, k+"="+v)
	}
	sort.Strings(lines)
	text := strings.Join(lines, "\r\n") + "\r\n"
	if err := os.WriteFile(n.ConfigPath(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write a node's configuration: %w", err)
	}
	return nil
}

// Use makes another program the node's, from its next start on: what an upgrade
// does. It is the stand-in relay too.
func (n *Node) Use(exe string) error {
	n.exe = exe
	return n.Set(map[string]string{"RELAY_EXE": exe})
}

// ConfigPath is the node's stk.ini.
func (n *Node) ConfigPath() string { return filepath.Join(n.Dir, "stk.ini") }

// LogPath is where the node's daemons write their log lines.
func (n *Node) LogPath() string { return filepath.Join(n.Dir, "log") }

// LifeLog is where the node's relays write that they live.
func (n *Node) LifeLog() string { return filepath.Join(n.Dir, "life") }

// Start starts the node's daemon.
func (n *Node) Start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run != nil {
		return fmt.Errorf("start %s: it runs already", n.Station)
	}
	log, err := os.OpenFile(n.LogPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", n.Station, err)
	}
	cmd := exec.Command(n.exe, "run", "--config", n.ConfigPath())
	cmd.Env = append(os.Environ(), standin.LogEnv+"="+n.LifeLog())
	cmd.Stdout, cmd.Stderr = log, log
	if err := startChild(cmd); err != nil {
		_ = log.Close()
		return fmt.Errorf("start %s: %w", n.Station, err)
	}
	r := &running{cmd: cmd, log: log, done: make(chan struct{})}
	n.run = r
	go func() {
		r.err = cmd.Wait()
		_ = log.Close()
		close(r.done)
	}()
	return nil
}

// PID is the daemon's, or 0.
func (n *Node) PID() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run == nil {
		return 0
	}
	return n.run.cmd.Process.Pid
}

// Running reports whether the daemon was started and has not ended.
func (n *Node) Running() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run == nil {
		return false
	}
	select {
	case <-n.run.done:
		return false
	default:
		return true
	}
}

// PowerCut ends the node's daemon, guard and relay at once.
func (n *Node) PowerCut() { n.end(procs.PowerCut) }

// KillDaemon ends the daemon alone; guard and relay live on for a moment.
func (n *Node) KillDaemon() { n.end(procs.Kill) }

// end applies how to the daemon and waits until it is gone.
func (n *Node) end(how func(pid int)) {
	n.mu.Lock()
	r := n.run
	n.run = nil
	n.mu.Unlock()
	if r == nil {
		return
	}
	how(r.cmd.Process.Pid)
	<-r.done
}

// Freeze stops the daemon; guard and relay go on.
func (n *Node) Freeze() error { return procs.Freeze(n.PID()) }

// Resume lets a frozen daemon go on.
func (n *Node) Resume() error { return procs.Resume(n.PID()) }

// Stop asks the daemon to end and waits for it.
func (n *Node) Stop(ctx context.Context) error {
	n.mu.Lock()
	r := n.run
	n.mu.Unlock()
	if r == nil {
		return nil
	}
	if err := procs.Ask(r.cmd.Process.Pid); err != nil {
		return fmt.Errorf("stop %s: %w", n.Station, err)
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", n.Station, ctx.Err())
	}
	n.mu.Lock()
	n.run = nil
	n.mu.Unlock()
	return r.err
}

// client asks the node's daemon.
func (n *Node) client() *localapi.Client {
	c, err := localapi.NewClient(n.API, localapi.Bearer(Token, KMSN))
	if err != nil {
		panic("localsite: " + err.Error()) // the address is ours
	}
	return c
}

// Status asks the node's daemon for its status.
func (n *Node) Status(ctx context.Context) (localapi.Status, error) { return n.client().Status(ctx) }

// Members asks the node's daemon for the member table.
func (n *Node) Members(ctx context.Context) (localapi.Members, error) { return n.client().Members(ctx) }

// Handoff gives the lease to a station by the node's own program, which may be of
// another release than ours.
func (n *Node) Handoff(ctx context.Context, to string) error {
	out, err := exec.CommandContext(ctx, n.exe, "handoff", to, "--config", n.ConfigPath()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("hand over from %s to %s: %w: %s", n.Station, to, err, out)
	}
	return nil
}

// Client returns a client of the node's local API.
func (n *Node) Client() *localapi.Client { return n.client() }

// Log returns what the node's daemons wrote so far.
func (n *Node) Log() string {
	b, _ := os.ReadFile(n.LogPath())
	return string(b)
}

// ErrNoLeader is returned by Leader while nobody leads.
var ErrNoLeader = errors.New("nobody leads")

// Leader returns the node whose own daemon says that its relay is ready.
func (s *Site) Leader(ctx context.Context) (*Node, localapi.Status, error) {
	for _, n := range s.Nodes {
		if !n.Running() {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		st, err := n.Status(ask)
		cancel()
		if err == nil && st.Role == "leader" && st.Relay.State == "running" {
			return n, st, nil
		}
	}
	return nil, localapi.Status{}, ErrNoLeader
}

// AwaitLeader waits until a node with a newer epoch than after leads.
func (s *Site) AwaitLeader(ctx context.Context, after uint64) (*Node, localapi.Status, error) {
	for {
		if n, st, err := s.Leader(ctx); err == nil && st.Epoch > after {
			return n, st, nil
		}
		select {
		case <-ctx.Done():
			return nil, localapi.Status{}, fmt.Errorf("await a leader: %w", ErrNoLeader)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
