package gossip

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Iface is one network interface as far as the address choice cares.
type Iface struct {
	Name    string
	Up      bool
	Addrs   []netip.Addr
	Gateway bool // has an IPv4 default gateway
}

// Route is the source address the system would use towards Target: the share's
// host or a peer.
type Route struct {
	Target string
	Source netip.Addr
}

// ErrAmbiguous is wrapped by ChooseAddress if several addresses are possible.
var ErrAmbiguous = errors.New("more than one address is possible")

// ErrNoAddress is wrapped by ChooseAddress while this PC has no LAN address:
// the cable is out, or DHCP has not answered yet. It may pass by itself.
var ErrNoAddress = errors.New("no LAN address")

// ChooseAddress decides which IPv4 address the others are told, from GOSSIP_BIND
// and GOSSIP_ADVERTISE (either may be empty), the interfaces, and the routes to
// the share's host and the peers.
//
// An explicit GOSSIP_ADVERTISE wins, even a loopback one; then an explicit
// GOSSIP_BIND; then the address the system uses towards the share and the
// peers; then the only one whose interface has a gateway; then the only one
// there is, unless it is a virtual switch by its name. Loopback, link-local and
// IPv6 are never chosen, and no interface is picked or dropped by its name
// alone: on Hyper-V hosts the LAN itself lives on a "vEthernet". If several
// remain, the error lists them and names the key to set.
func ChooseAddress(bind, advertise string, ifaces []Iface, routes []Route) (netip.Addr, error) {
	if advertise = strings.Trim(strings.TrimSpace(advertise), "[]"); advertise != "" {
		return parseAdvertise(advertise)
	}
	b, err := parseBind(bind)
	if err != nil {
		return netip.Addr{}, err
	}
	if b.IsValid() {
		if !usable(b) {
			return netip.Addr{}, fmt.Errorf("use GOSSIP_BIND=%s: no other PC can reach this address; remove the key, or set it to this PC's LAN address; for several stations on this one PC set GOSSIP_ADVERTISE=%s as well (it is what the others are told)", b, b)
		}
		return b, nil
	}
	all := candidates(ifaces, func(Iface) bool { return true })
	if len(all) == 0 {
		return netip.Addr{}, fmt.Errorf("choose an address: %w: no interface has an IPv4 one (%s); connect the network or set GOSSIP_ADVERTISE", ErrNoAddress, describe(ifaces))
	}
	if a, found, err := byRoute(all, ifaces, routes); found {
		return a, err
	}
	if with := candidates(ifaces, func(i Iface) bool { return i.Gateway }); len(with) > 0 {
		return only(with, ifaces)
	}
	real := candidates(ifaces, func(i Iface) bool { return !looksVirtual(i.Name) })
	if len(real) == 0 {
		return netip.Addr{}, fmt.Errorf("choose an address: %w: only virtual switches without a gateway (%s); connect the network or set GOSSIP_ADVERTISE", ErrNoAddress, describe(ifaces))
	}
	return only(real, ifaces)
}

// byRoute takes the address used towards the share and the peers. Sources that
// are no candidates (a share on this very PC is reached through loopback) tell
// nothing.
func byRoute(all []netip.Addr, ifaces []Iface, routes []Route) (a netip.Addr, found bool, err error) {
	var sources []netip.Addr
	for _, r := range routes {
		s := r.Source.Unmap()
		if slices.Contains(all, s) && !slices.Contains(sources, s) {
			sources = append(sources, s)
		}
	}
	if len(sources) == 0 {
		return netip.Addr{}, false, nil
	}
	a, err = only(sources, ifaces)
	return a, true, err
}

// only returns the single address, or the error that lists them all.
func only(addrs []netip.Addr, ifaces []Iface) (netip.Addr, error) {
	if len(addrs) == 1 {
		return addrs[0], nil
	}
	var names []string
	for _, a := range addrs {
		names = append(names, a.String())
	}
	return netip.Addr{}, fmt.Errorf("choose between %s: %w (interfaces: %s); set GOSSIP_ADVERTISE to the one the other PCs reach",
		strings.Join(names, " and "), ErrAmbiguous, describe(ifaces))
}

// candidates are the usable addresses of the interfaces that pass.
func candidates(ifaces []Iface, pass func(Iface) bool) []netip.Addr {
	var out []netip.Addr
	for _, i := range ifaces {
		if !i.Up || !pass(i) {
			continue
		}
		for _, a := range i.Addrs {
			if a = a.Unmap(); usable(a) && !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

// Candidate is an address that could be told to the others.
type Candidate struct {
	Addr    netip.Addr
	Iface   string
	Gateway bool // its interface has an IPv4 default gateway
}

// String is for people: "192.168.1.10 (eth0, with gateway)".
func (c Candidate) String() string {
	text := c.Addr.String() + " (" + c.Iface
	if c.Gateway {
		text += ", with gateway"
	}
	return text + ")"
}

// Candidates lists what ChooseAddress chooses from when no key names an
// address, in the order of the interfaces.
func Candidates(ifaces []Iface) (out []Candidate) {
	for _, i := range ifaces {
		for _, a := range candidates([]Iface{i}, func(Iface) bool { return true }) {
			out = append(out, Candidate{a, i.Name, i.Gateway})
		}
	}
	return out
}

// usable says whether other PCs of a LAN could reach an address.
func usable(a netip.Addr) bool {
	return a.Is4() && !a.IsLoopback() && !a.IsUnspecified() && !a.IsLinkLocalUnicast() && !a.IsMulticast()
}

// looksVirtual only ever counts against an interface that has neither a gateway
// nor a route to the share.
func looksVirtual(name string) bool {
	n := strings.ToLower(name)
	for _, p := range []string{"vethernet", "docker", "br-", "veth", "virbr", "vmnet", "vmware", "virtualbox", "vboxnet", "wsl", "tun", "tap", "wg", "zt", "tailscale", "hamachi"} {
		if strings.HasPrefix(n, p) || strings.Contains(n, " "+p) {
			return true
		}
	}
	return false
}

// describe lists the interfaces for an error text.
func describe(ifaces []Iface) string {
	var parts []string
	for _, i := range ifaces {
		if !i.Up || len(i.Addrs) == 0 {
			continue
		}
		var as []string
		for _, a := range i.Addrs {
			as = append(as, a.String())
		}
		s := fmt.Sprintf("%s: %s", i.Name, strings.Join(as, ", "))
		if i.Gateway {
			s += " with gateway"
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "none is up"
	}
	return strings.Join(parts, "; ")
}

// parseBind reads GOSSIP_BIND: invalid (no error) means every IPv4 address.
// "[::]" and "0.0.0.0" mean that too.
func parseBind(s string) (netip.Addr, error) {
	s = strings.Trim(strings.TrimSpace(s), "[]")
	if s == "" {
		return netip.Addr{}, nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("use GOSSIP_BIND=%q: not an IP address; remove the key, or set it to this PC's LAN address", s)
	}
	a = a.Unmap()
	switch {
	case a.IsUnspecified():
		return netip.Addr{}, nil
	case !a.Is4():
		return netip.Addr{}, fmt.Errorf("use GOSSIP_BIND=%s: it must be IPv4, an address of this PC, or left out", a)
	}
	return a, nil
}
