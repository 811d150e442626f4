package doctor

import (
	"context"
	"net/netip"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/config"
)

func addressCheck(cfg config.Config) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		if b := cfg.GossipBind; b != "" && !ownBind(b) {
			tell.Fail("remove GOSSIP_BIND, or set it to an address of this PC", "GOSSIP_BIND=%s is not an address of this PC, which has %s", b, ownAddrs())
			return
		}
		targets := append([]string{}, cfg.GossipPeers...)
		if host := cfg.ShareHost(); host != "" {
			targets = append(targets, host)
		}
		addr, err := gossip.FindAddress(ctx, cfg.GossipBind, cfg.GossipAdvertise, targets)
		if err != nil {
			tell.Fail("set GOSSIP_ADVERTISE to the address under which the other PCs reach this one", "%v", err)
			return
		}
		judgeAddress(cfg, addr, tell)
	}
}

func judgeAddress(cfg config.Config, addr netip.Addr, tell Tell) {
	switch {
	case addr.IsLoopback():
		tell.Warn("right for a demo on one PC; otherwise remove GOSSIP_ADVERTISE", "the others are told %s, which only this PC reaches", addr)
	case !ownAddr(addr):
		tell.Warn("correct GOSSIP_ADVERTISE, unless a router translates it", "the others are told %s, which is not an address of this PC", addr)
	default:
		tell.OK("the others are told %s:%d%s", addr, cfg.GossipPort, choice(cfg, addr))
	}
}

// choice says what addr was chosen from, if there was a choice.
func choice(cfg config.Config, addr netip.Addr) string {
	ifaces, err := gossip.Interfaces()
	if err != nil {
		return ""
	}
	return choiceOf(cfg, addr, ifaces)
}

func choiceOf(cfg config.Config, addr netip.Addr, ifaces []gossip.Iface) string {
	var others []string
	for _, c := range gossip.Candidates(ifaces) {
		if c.Addr != addr {
			others = append(others, c.String())
		}
	}
	if len(others) == 0 {
		return ""
	}
	why := "by itself, from the routes and gateways of this PC"
	switch {
	case cfg.GossipAdvertise != "":
		why = "by GOSSIP_ADVERTISE"
	case cfg.GossipBind != "" && cfg.GossipBind == addr.String():
		why = "by GOSSIP_BIND"
	}
	return ", chosen " + why + "; it also has " + names(others)
}

// ownAddr reports whether addr belongs to an interface of this PC; it says
// yes where that cannot be found out.
func ownAddr(addr netip.Addr) bool {
	ifaces, err := gossip.Interfaces()
	if err != nil {
		return true
	}
	for _, i := range ifaces {
		for _, a := range i.Addrs {
			if a.Unmap() == addr.Unmap() {
				return true
			}
		}
	}
	return false
}

// ownBind reports whether GOSSIP_BIND can be listened on.
func ownBind(text string) bool {
	a, err := netip.ParseAddr(text)
	return err != nil || a.IsUnspecified() || a.IsLoopback() || ownAddr(a)
}

// ownAddrs lists this PC's IPv4 addresses for people.
func ownAddrs() string {
	var all []string
	ifaces, _ := gossip.Interfaces()
	for _, i := range ifaces {
		for _, a := range i.Addrs {
			if a.Is4() && !a.IsLoopback() {
				all = append(all, a.String())
			}
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return names(all)
}
