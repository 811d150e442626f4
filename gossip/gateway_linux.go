package gossip

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
)

// gatewayIndexes returns the interfaces with an IPv4 default gateway.
func gatewayIndexes(ifs []net.Interface) (map[int]bool, error) {
	b, err := os.ReadFile("/proc/net/route")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no IPv4 at all
	}
	if err != nil {
		return nil, err
	}
	names := parseRoutes(string(b))
	out := map[int]bool{}
	for _, i := range ifs {
		out[i.Index] = names[i.Name]
	}
	return out, nil
}

// parseRoutes reads the kernel's table: interface, destination, gateway, flags,
// …, mask in hexadecimal.
func parseRoutes(table string) map[string]bool {
	const up, viaGateway = 0x1, 0x2
	names := map[string]bool{}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		flags, err := strconv.ParseUint(f[3], 16, 32)
		if err == nil && flags&up != 0 && flags&viaGateway != 0 {
			names[f[0]] = true
		}
	}
	return names
}
