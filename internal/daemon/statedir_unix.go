//go:build !windows

package daemon

import (
	"fmt"
	"os"
)

// makeStateDir makes STATE_DIR for this account alone.
func makeStateDir(dir string) error { return os.MkdirAll(dir, 0o700) }

// openToOthers returns a warning if other accounts can change what is in
// STATE_DIR: who can put another identity there can make this PC ineligible.
func openToOthers(dir string) string {
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm()&0o022 == 0 {
		return ""
	}
	return fmt.Sprintf("STATE_DIR %s can be changed by other accounts (mode %04o): chmod go-w it", dir, st.Mode().Perm())
}
