package doctor

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/lanaddr"
	"github.com/convertfw/floatrelay/lease"
)

func addressCheck(cfg config.Config, open func() (lease.Share, error)) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		if b := cfg.GossipBind; b != "" && !ownBind(b) {
			tell.Fail("remove GOSSIP_BIND, or set it to an address of this PC", "GOSSIP_BIND=%s is not an address of this PC, which has %s", b, ownAddrs())
			return
		}
		f, choice, err := findAddress(ctx, cfg, suspects(ctx, cfg, open))
		if err != nil {
			tell.Fail("set GOSSIP_ADVERTISE to the address under which the other PCs reach this one", "%v", err)
		} else {
			judgeAddress(cfg, choice.Addr, f, choice, tell)
		}
		for line := range strings.Lines(f.String()) { // rows of lanaddr's table of real PCs
			tell.OK("%s", strings.TrimSpace(line))
		}
	}
}

// findAddress chooses as the daemon does, by the routes to the members known.
func findAddress(ctx context.Context, cfg config.Config, known []suspect) (lanaddr.Facts, lanaddr.Choice, error) {
	members := append([]string{}, cfg.GossipPeers...)
	for _, s := range known {
		if !strings.EqualFold(s.station, cfg.Station) {
			members = append(members, s.addr.String())
		}
	}
	f, err := lanaddr.Find(ctx, lanaddr.Facts{Bind: cfg.GossipBind, Advertise: cfg.GossipAdvertise}, cfg.ShareHost(), members)
	if err != nil {
		return f, lanaddr.Choice{}, err
	}
	c, err := lanaddr.Choose(f)
	return f, c, err
}

func judgeAddress(cfg config.Config, addr netip.Addr, f lanaddr.Facts, c lanaddr.Choice, tell Tell) {
	switch {
	case addr.IsLoopback():
		tell.Warn("right for a demo on one PC; otherwise remove GOSSIP_ADVERTISE", "the others are told %s, which only this PC reaches", addr)
	case !f.Own(addr):
		tell.Fail("correct GOSSIP_ADVERTISE: a relay cannot listen there", "the others are told %s, which is not an address of this PC", addr)
	default:
		tell.OK("the others are told %s:%d%s", addr, cfg.GossipPort, choiceOf(f, c))
	}
}

// choiceOf says what the address was chosen from, if there was a choice.
func choiceOf(f lanaddr.Facts, choice lanaddr.Choice) string {
	var others []string
	for _, c := range f.Candidates() {
		if c.Addr != choice.Addr {
			others = append(others, c.String())
		}
	}
	if len(others) == 0 {
		return ""
	}
	return ", chosen " + choice.Why.String() + "; it also has " + names(others)
}

// ownAddr reports whether addr is written at an interface of this PC; it says
// yes where that cannot be found out. Of the loopback addresses, which are all
// this PC's, only 127.0.0.1 is: the others are those of stations on one PC.
func ownAddr(addr netip.Addr) bool {
	cards, err := lanaddr.Cards()
	return err != nil || slices.ContainsFunc(cards, func(c lanaddr.Card) bool { return c.Holds(addr.Unmap()) })
}

// ownBind reports whether GOSSIP_BIND can be listened on.
func ownBind(text string) bool {
	a, err := netip.ParseAddr(text)
	return err != nil || a.IsUnspecified() || a.IsLoopback() || ownAddr(a)
}

// ownAddrs lists this PC's IPv4 addresses for people.
func ownAddrs() string {
	var all []string
	cards, _ := lanaddr.Cards()
	for _, c := range cards {
		for _, a := range c.Addrs {
			if !a.Addr().IsLoopback() {
				all = append(all, a.Addr().String())
			}
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return names(all)
}
