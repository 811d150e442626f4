package gossip

import (
	"errors"
	"net"
	"unsafe"

	"golang.org/x/sys/windows"
)

// gatewayIndexes returns the interfaces with an IPv4 default gateway.
func gatewayIndexes([]net.Interface) (map[int]bool, error) {
	const flags = windows.GAA_FLAG_INCLUDE_GATEWAYS | windows.GAA_FLAG_SKIP_ANYCAST |
		windows.GAA_FLAG_SKIP_MULTICAST | windows.GAA_FLAG_SKIP_DNS_SERVER
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
			return nil, nil // no IPv4 at all
		}
		if err != nil {
			return nil, err
		}
		out := map[int]bool{}
		for a := first; a != nil; a = a.Next {
			out[int(a.IfIndex)] = a.FirstGatewayAddress != nil
		}
		return out, nil
	}
	return nil, errors.New("the list of adapters keeps growing")
}
