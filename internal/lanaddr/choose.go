package lanaddr

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// ErrAmbiguous is wrapped by Choose if several addresses are possible.
var ErrAmbiguous = errors.New("more than one address is possible")

// ErrNoAddress is wrapped by Choose while this PC has no LAN address: the cable
// is out, or DHCP has not answered yet. It may pass by itself.
var ErrNoAddress = errors.New("no LAN address")

// Why says what decided.
type Why int

// The reasons, from the weakest to the strongest.
const (
	ByOnly      Why = iota + 1 // there was nothing to choose from
	ByGateway                  // its card has the only gateway
	ByKeeping                  // the others know it, and this PC still has it
	ByShare                    // the system uses it towards the file server
	ByMembers                  // the system uses it towards the other PCs
	ByBind                     // GOSSIP_BIND
	ByAdvertise                // GOSSIP_ADVERTISE
)

// String is for people, to be put behind "chosen".
func (w Why) String() string {
	switch w {
	case ByOnly:
		return "because it is the only one"
	case ByGateway:
		return "because its card has a gateway"
	case ByKeeping:
		return "because the others know it already"
	case ByShare:
		return "because the file server is reached from it"
	case ByMembers:
		return "because the other PCs are reached from it"
	case ByBind:
		return "by GOSSIP_BIND"
	case ByAdvertise:
		return "by GOSSIP_ADVERTISE"
	}
	return "for no reason"
}

// Choice is an address and what decided.
type Choice struct {
	Addr netip.Addr
	Why  Why
}

// Choose decides which address the others are told.
//
// GOSSIP_ADVERTISE wins, even a loopback one; then GOSSIP_BIND. Otherwise each
// card offers the addresses that the system itself would use, and these narrow
// the offers down, until one is left: the routes to members in a network of this
// PC, to other members, to the file server; the address told at present; the
// gateways; what is no virtual switch by its name. Loopback, link-local and IPv6
// are never chosen. No card is picked by its name, and none is dropped by it that
// has a gateway or a route: on Hyper-V hosts the LAN itself lives on a
// "vEthernet". The error lists what is left and names the key to set.
func Choose(f Facts) (Choice, error) {
	if text := strings.Trim(strings.TrimSpace(f.Advertise), "[]"); text != "" {
		a, err := ParseAdvertise(text)
		return Choice{a, ByAdvertise}, err
	}
	bind, err := ParseBind(f.Bind)
	if err != nil {
		return Choice{}, err
	}
	if bind.IsValid() {
		return chooseBind(bind)
	}
	left := offers(f.Cards)
	if len(left) == 0 {
		return Choice{}, fmt.Errorf("choose an address: %w: no interface has an IPv4 one (%s); connect the network or set GOSSIP_ADVERTISE", ErrNoAddress, describe(f.Cards))
	}
	if o := left[0]; len(left) == 1 && (!looksVirtual(o.card.Name) || o.card.Gateway.IsValid()) {
		return Choice{o.addr, ByOnly}, nil
	}
	for _, step := range steps(f) {
		some := slices.DeleteFunc(slices.Clone(left), func(o offer) bool { return !step.takes(o) })
		if len(some) == 1 {
			return Choice{some[0].addr, step.why}, nil
		}
		if len(some) > 0 {
			left = some
		}
	}
	if len(left) > 1 {
		return Choice{}, ambiguous(left, f.Cards)
	}
	return Choice{}, fmt.Errorf("choose an address: %w: only virtual switches without a gateway (%s); connect the network or set GOSSIP_ADVERTISE", ErrNoAddress, describe(f.Cards))
}

func chooseBind(b netip.Addr) (Choice, error) {
	if !usable(b) {
		return Choice{}, fmt.Errorf("use GOSSIP_BIND=%s: no other PC can reach this address; remove the key, or set it to this PC's LAN address; for several stations on this one PC set GOSSIP_ADVERTISE=%s as well (it is what the others are told)", b, b)
	}
	return Choice{b, ByBind}, nil
}

// step is one piece of evidence: it takes some of the offers that are left.
type step struct {
	why   Why
	takes func(offer) bool
}

func steps(f Facts) []step {
	routed := func(pass func(Route) bool) func(offer) bool {
		return func(o offer) bool {
			return slices.ContainsFunc(f.Routes, func(r Route) bool { return pass(r) && !f.Own(target(r)) && o.serves(r.Source.Unmap()) })
		}
	}
	return []step{
		{ByMembers, routed(func(r Route) bool { return r.Member && r.OnLink })},
		{ByMembers, routed(func(r Route) bool { return r.Member })},
		{ByShare, routed(func(r Route) bool { return !r.Member })},
		{ByKeeping, func(o offer) bool { return o.addr == f.Current }},
		{ByGateway, func(o offer) bool { return o.card.Gateway.IsValid() }},
		// Two cards in one network have one gateway, which the system reaches by
		// one of them.
		{ByGateway, func(o offer) bool { return o.card.Source == o.addr }},
		{ByOnly, func(o offer) bool { return !looksVirtual(o.card.Name) || o.card.Gateway.IsValid() }},
	}
}

// target is a route's target if it is an address: what is this PC's own tells
// nothing.
func target(r Route) netip.Addr {
	a, _ := netip.ParseAddr(r.Target)
	return a
}

// ambiguous lists what is left.
func ambiguous(left []offer, cards []Card) error {
	var names []string
	for _, o := range left {
		names = append(names, o.addr.String())
	}
	return fmt.Errorf("choose between %s: %w (interfaces: %s); set GOSSIP_ADVERTISE to the one the other PCs reach",
		strings.Join(names, " and "), ErrAmbiguous, describe(cards))
}

// looksVirtual only ever counts against a card that has neither a gateway nor a
// route to anybody.
func looksVirtual(name string) bool {
	n := strings.ToLower(name)
	for _, p := range []string{"vethernet", "docker", "br-", "veth", "virbr", "vmnet", "vmware", "virtualbox", "vboxnet", "wsl", "tun", "tap", "wg", "zt", "tailscale", "hamachi", "loopback", "npcap"} {
		if strings.HasPrefix(n, p) || strings.Contains(n, " "+p) {
			return true
		}
	}
	return false
}

// describe lists the cards for an error text.
func describe(cards []Card) string {
	var parts []string
	for _, c := range cards {
		if !c.Up || len(c.Addrs) == 0 {
			continue
		}
		var as []string
		for _, a := range c.Addrs {
			as = append(as, a.Addr().String())
		}
		s := c.Name + ": " + strings.Join(as, ", ")
		if c.Gateway.IsValid() {
			s += " with gateway"
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "none is up"
	}
	return strings.Join(parts, "; ")
}
