package doctor

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/lease"
)

// filesPatience bounds reading the members' files from the share.
const filesPatience = 4 * time.Second

// suspect is a PC that may run a daemon, by what is written about it somewhere.
type suspect struct {
	id      lease.ID // empty for one of GOSSIP_PEERS
	station string
	addr    netip.AddrPort
}

func (s suspect) String() string {
	if s.station == "" {
		return s.addr.String()
	}
	return s.station + " (" + s.addr.String() + ")"
}

func ownNode(stateDir string) string {
	b, err := os.ReadFile(filepath.Join(stateDir, "node"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// suspects collects who might be there, each address once.
func suspects(ctx context.Context, cfg config.Config, open func() (lease.Share, error)) []suspect {
	ctx, cancel := context.WithTimeout(ctx, filesPatience)
	defer cancel()
	var all []suspect
	for _, m := range memberFiles(ctx, open) {
		if m.KMSN != cfg.KMSN {
			continue
		}
		for _, a := range m.Addrs {
			if ip, err := netip.ParseAddr(a); err == nil {
				all = append(all, suspect{lease.ID{Node: m.Node, Run: m.Run}, m.Station, netip.AddrPortFrom(ip, uint16(m.Port))})
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(cfg.StateDir, "members.json")); err == nil {
		rows, _ := gossip.DecodeRows(b)
		for _, r := range rows {
			all = append(all, suspect{r.ID, r.Meta.Station, r.Addr})
		}
	}
	for _, p := range cfg.GossipPeers {
		for _, a := range lookUp(ctx, p) {
			all = append(all, suspect{addr: a})
		}
	}
	seen := map[netip.AddrPort]bool{}
	return slices.DeleteFunc(all, func(s suspect) bool {
		again := seen[s.addr] || !s.addr.IsValid() || s.addr.Port() == 0
		seen[s.addr] = true
		return again
	})
}

func memberFiles(ctx context.Context, open func() (lease.Share, error)) []lease.Member {
	share, err := open()
	if err != nil {
		return nil
	}
	found := make(chan []lease.Member, 1)
	go func() {
		chain := lease.NewChain(share)
		list, err := chain.List(ctx)
		if err != nil || list.Share == "" {
			found <- nil
			return
		}
		members, _, _ := chain.ListMembers(ctx, list.Share)
		found <- members
	}()
	select {
	case m := <-found:
		return m
	case <-ctx.Done():
		return nil
	}
}

func lookUp(ctx context.Context, peer string) (out []netip.AddrPort) {
	host, p, err := net.SplitHostPort(peer)
	if err != nil {
		return nil
	}
	port, _ := strconv.ParseUint(p, 10, 16)
	ips, _ := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
	for _, ip := range ips {
		out = append(out, netip.AddrPortFrom(ip.Unmap(), uint16(port)))
	}
	return out
}
