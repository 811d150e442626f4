package lanaddr

import (
	"errors"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/windows"
)

// details asks GetAdaptersAddresses, and for each address whether programs may
// use it as their source.
func details() (detail, error) {
	const flags = windows.GAA_FLAG_INCLUDE_GATEWAYS | windows.GAA_FLAG_SKIP_ANYCAST |
		windows.GAA_FLAG_SKIP_MULTICAST | windows.GAA_FLAG_SKIP_DNS_SERVER
	d := detail{gateways: map[int]netip.Addr{}, addrs: map[netip.Addr]Addr{}}
	size := uint32(15_000) // what the manual recommends to start with
	for range 4 {
		// 8-byte alignment, which the structures need.
		buf := make([]uint64, (size+7)/8)
		first := (*windows.IpAdapterAddresses)(unsafe.Pointer(&buf[0]))
		err := windows.GetAdaptersAddresses(windows.AF_INET, flags, 0, first, &size)
		if errors.Is(err, windows.ERROR_BUFFER_OVERFLOW) {
			continue
		}
		if errors.Is(err, windows.ERROR_NO_DATA) {
			return d, nil // no IPv4 at all
		}
		if err != nil {
			return d, err
		}
		for a := first; a != nil; a = a.Next {
			d.add(a)
		}
		return d, nil
	}
	return d, errors.New("the list of adapters keeps growing")
}

func (d *detail) add(a *windows.IpAdapterAddresses) {
	if g := a.FirstGatewayAddress; g != nil {
		if ip, ok := netip.AddrFromSlice(g.Address.IP()); ok && ip.Unmap().Is4() {
			d.gateways[int(a.IfIndex)] = ip.Unmap()
		}
	}
	for u := a.FirstUnicastAddress; u != nil; u = u.Next {
		ip, ok := netip.AddrFromSlice(u.Address.IP())
		if ip = ip.Unmap(); !ok || !ip.Is4() {
			continue
		}
		d.addrs[ip] = Addr{Deprecated: u.DadState == windows.IpDadStateDeprecated, Skip: skipped(a.Luid, ip)}
	}
}

// skipped asks for SkipAsSource, which the list of adapters does not hold.
func skipped(luid uint64, ip netip.Addr) bool {
	row := windows.MibUnicastIpAddressRow{InterfaceLuid: luid}
	in4 := (*windows.RawSockaddrInet4)(unsafe.Pointer(&row.Address))
	in4.Family, in4.Addr = windows.AF_INET, ip.As4()
	return windows.GetUnicastIpAddressEntry(&row) == nil && row.SkipAsSource != 0
}
