//go:build !windows

package config

import (
	"os"
	"path/filepath"
)

// SystemPath is where stk.ini is looked for last.
const SystemPath = "/etc/floatrelay/stk.ini"

func defaultStateDir(env Env) string { return stateDirFor(os.Geteuid(), env) }

// stateDirFor follows the XDG rules for ordinary users. Without a home there
// is no default, and Load says so.
func stateDirFor(uid int, env Env) string {
	if uid == 0 {
		return "/var/lib/floatrelay"
	}
	if dir, ok := env("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "floatrelay")
	}
	if home, ok := env("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "floatrelay")
	}
	return ""
}

func defaultLogFile(Env) string { return "" }
