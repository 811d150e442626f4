package doctor

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// systemRanges reads what the kernel does with ports.
func systemRanges(context.Context) portRanges {
	read := func(name string) string {
		b, _ := os.ReadFile("/proc/sys/net/ipv4/" + name)
		return string(b)
	}
	r := portRanges{spared: parseSpans(read("ip_local_reserved_ports"))}
	if f := strings.Fields(read("ip_local_port_range")); len(f) == 2 {
		first, _ := strconv.Atoi(f[0])
		last, _ := strconv.Atoi(f[1])
		r.handed = span{first, last}
	}
	return r
}

func reserveHint(port int) string {
	return fmt.Sprintf("sysctl net.ipv4.ip_local_reserved_ports=%d", port)
}
