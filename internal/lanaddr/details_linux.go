package lanaddr

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func details() (detail, error) {
	d := detail{gateways: map[int]netip.Addr{}, addrs: map[netip.Addr]Addr{}}
	b, err := os.ReadFile("/proc/net/route")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // which means no IPv4 at all
		return d, err
	}
	for name, gw := range parseRoutes(string(b)) {
		if i, err := net.InterfaceByName(name); err == nil {
			d.gateways[i.Index] = gw
		}
	}
	rib, err := syscall.NetlinkRIB(syscall.RTM_GETADDR, syscall.AF_INET)
	if err != nil {
		return d, err
	}
	msgs, err := syscall.ParseNetlinkMessage(rib)
	if err != nil {
		return d, err
	}
	for _, m := range msgs {
		if ip, a, ok := parseAddr(m); ok {
			d.addrs[ip] = a
		}
	}
	return d, nil
}

// parseAddr reads one answer to RTM_GETADDR: the header holds eight bits of
// flags, which IFA_FLAGS repeats in full, and the scope.
func parseAddr(m syscall.NetlinkMessage) (ip netip.Addr, a Addr, ok bool) {
	if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < syscall.SizeofIfAddrmsg {
		return ip, a, false
	}
	attrs, err := syscall.ParseNetlinkRouteAttr(&m)
	if err != nil {
		return ip, a, false
	}
	flags, scope := uint32(m.Data[2]), m.Data[3]
	for _, x := range attrs {
		switch {
		case x.Attr.Type == unix.IFA_LOCAL && len(x.Value) == 4:
			ip = netip.AddrFrom4([4]byte(x.Value))
		case x.Attr.Type == unix.IFA_FLAGS && len(x.Value) >= 4:
			flags = binary.NativeEndian.Uint32(x.Value)
		}
	}
	a.Deprecated = flags&unix.IFA_F_DEPRECATED != 0
	a.Secondary = flags&unix.IFA_F_SECONDARY != 0
	a.Skip = scope >= unix.RT_SCOPE_LINK
	return ip, a, ip.IsValid()
}

// parseRoutes reads the default routes of the kernel's table: interface,
// destination, gateway, flags, …, mask in hexadecimal. The first of each card is
// the one that counts.
func parseRoutes(table string) map[string]netip.Addr {
	const up, viaGateway = 0x1, 0x2
	out := map[string]netip.Addr{}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		flags, err := strconv.ParseUint(f[3], 16, 32)
		gw, err2 := strconv.ParseUint(f[2], 16, 32)
		if err != nil || err2 != nil || flags&up == 0 || flags&viaGateway == 0 {
			continue
		}
		if _, again := out[f[0]]; !again {
			out[f[0]] = fromKernel(uint32(gw))
		}
	}
	return out
}

// fromKernel turns the number of a file in /proc, whose bytes are in network
// order, into an address.
func fromKernel(n uint32) netip.Addr {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}
