package daemon

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/google/uuid"

	"github.com/convertfw/floatrelay/lease"
)

// identify returns this node's UUID, made on first use and kept in
// STATE_DIR/node, with a new run.
func identify(stateDir string) (lease.ID, error) {
	path := filepath.Join(stateDir, "node")
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		id := uuid.NewString()
		if err := writeFile(path, []byte(id+"\n")); err != nil {
			return lease.ID{}, err
		}
		return lease.ID{Node: id, Run: newRun()}, nil
	case err != nil:
		return lease.ID{}, fmt.Errorf("read this node's identity: %w", err)
	}
	id, err := uuid.Parse(strings.TrimSpace(string(b)))
	if err != nil {
		return lease.ID{}, fmt.Errorf("read this node's identity from %s: %w; delete the file to get a new one", path, err)
	}
	return lease.ID{Node: id.String(), Run: newRun()}, nil
}

// newRun returns the 12 hex digits that tell one daemon start from another.
func newRun() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails (see crypto/rand)
	return hex.EncodeToString(b[:])
}

// bootID hashes what makes this boot of this machine unlike any other: a
// cloned PC that shares the node UUID differs in it, and so does the same PC
// after a restart. STATE_DIR belongs to it, because the fast way that an equal
// boot opens rests on the lock in it: a copy on the same PC has another lock.
func bootID(stateDir string) string {
	parts := append(hostParts(), addresses()...)
	parts = append(parts, trueDir(stateDir))
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:8])
}

// trueDir is the one path of a folder, whatever links lead to it.
func trueDir(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir
}

// addresses are the unicast and hardware addresses of this host, sorted.
func addresses() []string {
	var out []string
	ifaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range ifaces {
		if i.Flags&net.FlagLoopback != 0 {
			continue
		}
		out = append(out, i.HardwareAddr.String())
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil {
				out = append(out, n.IP.String())
			}
		}
	}
	sort.Strings(out)
	return out
}
