// Package station builds a whole site on one machine: real daemons, each a
// process of its own with its own STATE_DIR, one share, and the stand-in relay.
// The demo, the benchmarks and the tests of the whole program use it.
//
// The PCs are loopback ports instead of hosts, so a network that breaks is not
// in it; what breaks is processes and the share.
package station

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/lease"
)

// Options of a station.
type Options struct {
	Exe   string // the floatrelay binary
	Nodes int
	Dir   string // scratch folder; empty makes a temporary one
	// NoChain leaves the share empty, as at a first installation. Otherwise the
	// chain is founded at once, since nobody can be leading in a new folder.
	NoChain bool
	// OwnLinks makes every node reach the share through a link of its own
	// below Dir/links, which a test can take away.
	OwnLinks  bool
	RelayArgs string            // further arguments of the stand-in relay
	Extra     map[string]string // further keys of every stk.ini
}

// Site figures of a station.
const (
	KMSN  = "DEMO"
	Token = "demo-token-not-for-a-site"
)

// Station is a site in one folder.
type Station struct {
	Dir   string
	Share string
	Nodes []*Node

	opt       Options
	temporary bool
}

// New makes the folder, the share and a configuration per node. Nothing runs
// yet.
func New(opt Options) (_ *Station, err error) {
	s := &Station{Dir: opt.Dir, opt: opt}
	if s.Dir == "" {
		if s.Dir, err = os.MkdirTemp("", "floatrelay-demo-"); err != nil {
			return nil, fmt.Errorf("make a scratch folder: %w", err)
		}
		s.temporary = true
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	s.Share = filepath.Join(s.Dir, "share")
	if err := os.MkdirAll(s.Share, 0o755); err != nil {
		return nil, fmt.Errorf("make the share: %w", err)
	}
	if !opt.NoChain {
		if err := s.found(); err != nil {
			return nil, err
		}
	}
	return s, s.makeNodes()
}

// found moves a chain into the new share, so that nobody has to wait until a
// chain that might have been there has run out.
func (s *Station) found() error {
	codec, err := lease.NewCodec(KMSN, Token)
	if err != nil {
		return err
	}
	id := uuid.NewString()
	genesis, err := codec.Seal(lease.Record{
		Share: id, KMSN: KMSN, Station: "DEMO", Rev: 1, Owner: lease.ID{Node: uuid.NewString(), Run: "000000000000"},
		Boot: "demo", State: lease.Released, Reason: "new-chain", IP: "127.0.0.1", Port: 9530, PID: os.Getpid(),
		TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	return lease.NewChain(lease.NewDir(s.Share)).Found(context.Background(), id, 1, genesis)
}

func (s *Station) makeNodes() error {
	ports, err := freePorts(3 * s.opt.Nodes)
	if err != nil {
		return err
	}
	var peers []string
	for i := range s.opt.Nodes {
		peers = append(peers, fmt.Sprintf("127.0.0.1:%d", ports[3*i+1]))
	}
	for i := range s.opt.Nodes {
		n := &Node{
			Station: fmt.Sprintf("POS-%02d", i+1), Dir: filepath.Join(s.Dir, fmt.Sprintf("pos-%02d", i+1)), exe: s.opt.Exe,
			RelayPort: ports[3*i], GossipPort: ports[3*i+1], API: fmt.Sprintf("127.0.0.1:%d", ports[3*i+2]),
		}
		if err := s.configure(n, peers); err != nil {
			return err
		}
		s.Nodes = append(s.Nodes, n)
	}
	return nil
}

func (s *Station) configure(n *Node, peers []string) error {
	if err := os.MkdirAll(n.Dir, 0o755); err != nil {
		return fmt.Errorf("make a node's folder: %w", err)
	}
	n.Share = s.Share
	if s.opt.OwnLinks {
		n.Share = filepath.Join(n.Dir, "W")
		if err := os.Symlink(s.Share, n.Share); err != nil {
			return fmt.Errorf("link the share: %w", err)
		}
	}
	keys := map[string]string{
		"KMSN": KMSN, "STATION": n.Station, "RELAY_TOKEN": Token, "LEASE_DIR": n.Share,
		"RELAY_EXE": s.opt.Exe, "RELAY_ARGS": strings.TrimSpace("standin " + s.opt.RelayArgs),
		"RELAY_PORT":  fmt.Sprint(n.RelayPort),
		"GOSSIP_PORT": fmt.Sprint(n.GossipPort), "GOSSIP_BIND": "127.0.0.1", "GOSSIP_ADVERTISE": "127.0.0.1",
		"GOSSIP_PEERS": strings.Join(peers, ","), "API_ADDR": n.API,
		"STATE_DIR": filepath.Join(n.Dir, "state"), "LOG_FILE": "",
	}
	for k, v := range s.opt.Extra {
		keys[k] = v
	}
	return n.write(keys)
}

// Close ends everything that still runs and removes a temporary folder.
func (s *Station) Close() error {
	for _, n := range s.Nodes {
		n.PowerCut()
	}
	if !s.temporary {
		return nil
	}
	var err error
	for range 20 { // a relay that is being killed may still write its log
		if err = os.RemoveAll(s.Dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("remove the scratch folder: %w", err)
}

// StartAll starts every node.
func (s *Station) StartAll() error {
	for _, n := range s.Nodes {
		if err := n.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Lives returns the lives of all relays so far, as their processes wrote them.
func (s *Station) Lives() ([]standin.Span, error) {
	var all []standin.Span
	for _, n := range s.Nodes {
		spans, err := standin.ReadLife(n.LifeLog())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		all = append(all, spans...)
	}
	return all, nil
}

// Overlap returns for how long two relays lived at the same time; it must be
// zero.
func (s *Station) Overlap() (time.Duration, error) {
	spans, err := s.Lives()
	return standin.Overlap(spans), err
}

// freePorts returns n first ports of free pairs, all different. They are free
// now; somebody may still take one before it is used.
func freePorts(n int) ([]int, error) {
	var out []int
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for tries := 0; len(out) < n; tries++ {
		if tries > 50*n {
			return nil, errors.New("find free ports on 127.0.0.1: none left")
		}
		a, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find free ports: %w", err)
		}
		held = append(held, a)
		port := a.Addr().(*net.TCPAddr).Port
		b, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
		if err != nil {
			continue
		}
		held = append(held, b)
		if u, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = u.Close()
			out = append(out, port)
		}
	}
	return out, nil
}
