package daemon

import (
	"os"
	"strings"
)

// hostParts names this machine and this boot of it.
func hostParts() []string {
	var out []string
	for _, path := range []string{"/etc/machine-id", "/proc/sys/kernel/random/boot_id"} {
		b, _ := os.ReadFile(path) // missing in some containers; the rest still tells hosts apart
		out = append(out, strings.TrimSpace(string(b)))
	}
	return out
}
