package lanaddr

import (
	"fmt"
	"net/netip"
	"strings"
)

// ParseAdvertise accepts an IPv4 address others can reach. Loopback is allowed
// here, because only an explicit GOSSIP_ADVERTISE can get it this far.
func ParseAdvertise(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("use %q as the advertised address: not an IP address; set GOSSIP_ADVERTISE", s)
	}
	a = a.Unmap()
	switch {
	case !a.Is4():
		return netip.Addr{}, fmt.Errorf("use %s as the advertised address: it must be IPv4; set GOSSIP_ADVERTISE", a)
	case a.IsUnspecified(), a.IsLinkLocalUnicast(), a.IsMulticast():
		return netip.Addr{}, fmt.Errorf("use %s as the advertised address: no other PC can reach it; set GOSSIP_ADVERTISE", a)
	}
	return a, nil
}

// ParseBind reads GOSSIP_BIND: invalid (no error) means every IPv4 address.
// "[::]" and "0.0.0.0" mean that too.
func ParseBind(s string) (netip.Addr, error) {
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
