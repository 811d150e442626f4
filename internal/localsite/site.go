// Package localsite builds a whole site on one machine: real daemons, each a
// process of its own with its own STATE_DIR, one share, and the stand-in relay.
// The demo, the benchmarks and the tests of the whole program use it.
//
// The PCs are loopback ports instead of hosts. What can be broken is processes,
// each node's way to the share (Options.OwnLinks) and, on Linux, the gossip
// between them (Options.Switched).
package localsite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/convertfw/floatrelay/internal/standin"
)

// Options of a site.
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
	// Adjust changes the keys of one node's stk.ini, counted from 0, before
	// it is written; nil changes nothing.
	Adjust func(i int, keys map[string]string)
	// Switched puts a Switch between the nodes' gossip, which can cut it.
	// Linux only.
	Switched bool
}

// KMSN and Token are what every PC of a site is configured with.
const (
	KMSN  = "DEMO"
	Token = "demo-token-not-for-a-site"
)

// Site is a whole site in one folder.
type Site struct {
	Dir   string
	Share string
	Nodes []*Node
	// Switch carries the gossip, if Options.Switched; otherwise it is nil.
	Switch *Switch

	opt       Options
	temporary bool
}

// New makes the folder, the share and a configuration per node. Nothing runs
// yet.
func New(opt Options) (_ *Site, err error) {
	s := &Site{Dir: opt.Dir, opt: opt}
	if s.Dir == "" {
		if s.Dir, err = os.MkdirTemp("", "floatrelay-demo-"); err != nil {
			return nil, fmt.Errorf("make a scratch folder: %w", err)
		}
		s.temporary = true
	}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	s.Share = filepath.Join(s.Dir, "share")
	if err := os.MkdirAll(s.Share, 0o755); err != nil {
		return nil, fmt.Errorf("make the share: %w", err)
	}
	if !opt.NoChain {
		if _, err := Found(s.Share); err != nil {
			return nil, err
		}
	}
	return s, s.makeNodes()
}

// Close ends everything that still runs and removes a temporary folder.
func (s *Site) Close() error {
	for _, n := range s.Nodes {
		n.PowerCut()
	}
	if s.Switch != nil {
		s.Switch.Close()
	}
	if !s.temporary {
		return nil
	}
	var err error
	for range 20 { // a relay that is being killed may still write its log
		if err = removeTree(s.Dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("remove the scratch folder: %w", err)
}

// removeTree is os.RemoveAll also where deleting in the POSIX way, which that
// insists on under Windows, is not known: file by file.
func removeTree(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		below := filepath.Join(dir, e.Name())
		if e.IsDir() {
			_ = removeTree(below)
		}
		_ = os.Remove(below)
	}
	if os.Remove(dir) == nil {
		return nil
	}
	return err
}

// StartAll starts every node.
func (s *Site) StartAll() error {
	for _, n := range s.Nodes {
		if err := n.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Lives returns the lives of all relays so far, as their processes wrote them.
func (s *Site) Lives() ([]standin.Span, error) {
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
func (s *Site) Overlap() (time.Duration, error) {
	spans, err := s.Lives()
	return standin.Overlap(spans), err
}
