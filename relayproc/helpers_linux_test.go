package relayproc

import (
	"os"
	"strings"
	"time"
)

// daemonLife is how far ahead the test daemon keeps the deadline.
const daemonLife = 2 * time.Second

// relays finds the living stand-in processes whose life log lies in dir.
func relays(dir string) []int {
	var out []int
	for _, pid := range pids() {
		cmdline, _ := os.ReadFile(procPath(pid, "cmdline"))
		env, _ := os.ReadFile(procPath(pid, "environ"))
		s, ok := readStat(pid)
		if ok && !s.dead() && strings.Contains(string(cmdline), "\x00standin\x00") &&
			strings.Contains(string(env), dir) {
			out = append(out, pid)
		}
	}
	return out
}
