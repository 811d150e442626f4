//go:build !windows

package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// makeStateDir makes STATE_DIR for this account alone, and closes one that is
// there already. It refuses a folder that belongs to another account, or has
// such files in it: who owns them can change what this PC remembers and is. note
// says what was mended.
func makeStateDir(dir string) (note string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	st, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if st.Mode().Perm()&0o022 != 0 && st.Mode()&os.ModeSticky == 0 && ownerOf(st) == os.Geteuid() {
		if err := os.Chmod(dir, st.Mode().Perm()&^0o022); err != nil {
			return "", fmt.Errorf("close it to other accounts: %w", err)
		}
		note = fmt.Sprintf("STATE_DIR %s was open to other accounts; it is closed now", dir)
	}
	if text := strangersIn(dir); text != "" {
		return "", errors.New(text)
	}
	if text := openToOthers(dir); text != "" {
		return "", errors.New(text)
	}
	return note, nil
}

// strangersIn says what in STATE_DIR belongs to an account that is neither this
// one nor root, or "".
func strangersIn(dir string) string {
	if text := strangerOwns(dir, os.Stat); text != "" {
		return text
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if text := strangerOwns(filepath.Join(dir, e.Name()), os.Lstat); text != "" {
			return text
		}
	}
	return ""
}

func strangerOwns(path string, stat func(string) (os.FileInfo, error)) string {
	st, err := stat(path)
	if err != nil || ownerOf(st) == 0 || ownerOf(st) == os.Geteuid() {
		return ""
	}
	return fmt.Sprintf("%s belongs to another account (uid %d, this one has %d): remove it, or chown it to this account if that one made it for you", path, ownerOf(st), os.Geteuid())
}

func ownerOf(st os.FileInfo) int {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return int(sys.Uid)
	}
	return 0
}

// openToOthers says whether other accounts can change what is in STATE_DIR: who
// can put another identity there can make this PC ineligible.
func openToOthers(dir string) string {
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm()&0o022 == 0 {
		return ""
	}
	return fmt.Sprintf("STATE_DIR %s can be changed by other accounts (mode %04o): chmod go-w it, or name a folder of its own", dir, st.Mode().Perm())
}
