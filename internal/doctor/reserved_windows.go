package doctor

import (
	"context"
	"fmt"
	"os/exec"
)

// systemRanges asks netsh; what it does not answer is left out.
func systemRanges(ctx context.Context) portRanges {
	netsh := func(args ...string) string {
		out, _ := exec.CommandContext(ctx, "netsh", append([]string{"int", "ipv4", "show"}, args...)...).Output()
		return string(out)
	}
	r := portRanges{handed: parseDynamic(netsh("dynamicport", "tcp"))}
	for _, kind := range []string{"tcp", "udp"} {
		kept, spared := parseExcluded(netsh("excludedportrange", kind))
		r.kept, r.spared = append(r.kept, kept...), append(r.spared, spared...)
	}
	return r
}

func reserveHint(port int) string {
	return fmt.Sprintf("netsh int ipv4 add excludedportrange tcp %d 1 persistent", port)
}
