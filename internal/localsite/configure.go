package localsite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/convertfw/floatrelay/internal/freeport"
)

func (s *Site) makeNodes() error {
	ports, err := freeport.Pairs(3 * s.opt.Nodes)
	if err != nil {
		return err
	}
	if s.opt.Switched {
		if s.Switch, err = newSwitch(s); err != nil {
			return err
		}
	}
	for i := range s.opt.Nodes {
		n := &Node{
			Station: fmt.Sprintf("POS-%02d", i+1), Dir: filepath.Join(s.Dir, fmt.Sprintf("pos-%02d", i+1)), exe: s.opt.Exe,
			RelayPort: ports[3*i], GossipPort: ports[3*i+1], API: fmt.Sprintf("127.0.0.1:%d", ports[3*i+2]),
			Addr: "127.0.0.1", Bind: "127.0.0.1",
		}
		if s.Switch != nil {
			n.Addr, n.Bind, n.GossipPort = s.Switch.public(i), s.Switch.private(i), s.Switch.Port
		}
		s.Nodes = append(s.Nodes, n)
	}
	if s.Switch != nil {
		s.Switch.run()
	}
	for i := range s.Nodes {
		if err := s.configure(i); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) configure(i int) error {
	n := s.Nodes[i]
	if err := os.MkdirAll(n.Dir, 0o755); err != nil {
		return fmt.Errorf("make a node's folder: %w", err)
	}
	n.Share = s.Share
	if s.opt.OwnLinks {
		n.Share = filepath.Join(n.Dir, "W")
		if err := n.LinkShare(s.Share); err != nil {
			return err
		}
	}
	keys := map[string]string{
		"KMSN": KMSN, "STATION": n.Station, "RELAY_TOKEN": Token, "LEASE_DIR": n.Share,
		"RELAY_EXE": s.opt.Exe, "RELAY_ARGS": strings.TrimSpace("standin -listen " + n.Addr + " " + s.opt.RelayArgs),
		"RELAY_PORT":  fmt.Sprint(n.RelayPort),
		"GOSSIP_PORT": fmt.Sprint(n.GossipPort), "GOSSIP_BIND": n.Bind, "GOSSIP_ADVERTISE": n.Addr,
		"GOSSIP_PEERS": s.peers(), "API_ADDR": n.API,
		"STATE_DIR": n.StateDir(), "LANG_UI": "en", "LOG_FILE": "-", // not where a service of this PC writes
	}
	for k, v := range s.opt.Extra {
		keys[k] = v
	}
	if s.opt.Adjust != nil {
		s.opt.Adjust(i, keys)
	}
	return n.write(keys)
}

func (s *Site) peers() string {
	var out []string
	for _, n := range s.Nodes {
		out = append(out, fmt.Sprintf("%s:%d", n.Addr, n.GossipPort))
	}
	return strings.Join(out, ",")
}
