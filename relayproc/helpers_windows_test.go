package relayproc

import (
	"os"
	"path/filepath"
	"time"

	"github.com/convertfw/floatrelay/internal/standin"
)

// daemonLife is how far ahead the test daemon keeps the deadline. Starting a
// guard alone can take two seconds here.
const daemonLife = 5 * time.Second

// relays finds the living stand-in processes that wrote the life log in dir.
func relays(dir string) []int {
	spans, err := standin.ReadLife(filepath.Join(dir, "life.log"))
	if err != nil {
		return nil
	}
	self, _ := os.Executable()
	var out []int
	for _, s := range spans {
		for _, pid := range s.PIDs {
			if p, ok := lookup(pid); ok && sameProgram(p.Exe, self) {
				out = append(out, pid)
			}
		}
	}
	return out
}
