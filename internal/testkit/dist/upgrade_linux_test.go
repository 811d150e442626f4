package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A copy that fails leaves the old program in place, and running.
func TestInstallScript_StartsTheOldProgramAgain(t *testing.T) {
	s := newScripted(t)
	s.installed()
	s.write(filepath.Join(s.fake, "cp"), `#!/bin/sh
for last; do :; done
case $last in *.new) echo "no space left" >&2; exit 1 ;; esac
exec /bin/cp "$@"
`, 0o755)
	s.program("two")
	s.refused("the program cannot be replaced")
	calls := s.calls()
	require.Less(t, strings.Index(calls, "service stop"), strings.Index(calls, "service start"), calls)
	require.NotContains(t, calls, "members")
	s.has(filepath.Join(s.prefix, "floatrelay"), "# one")
	require.NoFileExists(t, filepath.Join(s.prefix, "floatrelay.new"))
}

// Whatever the program's own exit code, the script's is 1, with a reason.
func TestInstallScript_EndsWithOne(t *testing.T) {
	for command, reason := range map[string]string{
		"config":          "correct",
		"service-install": "the service was not installed",
		"service-start":   "the service does not start",
		"members":         "does not say that this PC is a member",
	} {
		t.Run(command, func(t *testing.T) {
			s := newScripted(t)
			s.ends(command, "3")
			s.refused(reason, "--site-ini", s.site(), "--station", "POS-07")
		})
	}
	t.Run("service-stop", func(t *testing.T) {
		s := newScripted(t)
		s.installed()
		s.ends("service-stop", "3")
		s.program("two")
		s.refused("the service does not stop; nothing was changed")
		s.has(filepath.Join(s.prefix, "floatrelay"), "# one")
	})
}

// --purge removes what floatrelay keeps where it is told to keep it, and nothing
// else that lies there.
func TestUninstallScript_Purge(t *testing.T) {
	s := newScripted(t)
	s.installed()
	state := filepath.Join(s.root, "state 功")
	shown := func(dir string) {
		s.write(filepath.Join(s.fake, "shown"), `{"values":[{"key":"API_ADDR","value":"x","origin":"default"},{"key":"STATE_DIR","value":"`+dir+`","origin":"stk.ini:3"},{"key":"LOG_LEVEL","value":"info","origin":"default"}]}`, 0o644)
	}
	require.NoError(t, os.MkdirAll(state, 0o700))
	for _, name := range []string{"node", "state.json", "state.json.damaged", "members.json", "relay.json", "history.ndjson", "guard.lock", "daemon.lock", "daemon.pid", "mine.txt"} {
		s.write(filepath.Join(state, name), "x", 0o600)
	}

	shown(`a\\b`)
	out, err := s.script("uninstall.sh", "--purge")
	require.Error(t, err)
	require.Contains(t, out, "STATE_DIR cannot be told")
	require.FileExists(t, s.ini())
	require.FileExists(t, filepath.Join(s.prefix, "floatrelay"))

	shown(state)
	out, err = s.script("uninstall.sh")
	require.NoError(t, err, out)
	require.FileExists(t, s.ini())
	require.FileExists(t, filepath.Join(state, "node"))

	s.program("one")
	s.must("--no-service")
	out, err = s.script("uninstall.sh", "--purge")
	require.NoError(t, err, out)
	require.Contains(t, out, "holds other files and was left")
	left, err := os.ReadDir(state)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.NoFileExists(t, s.ini())

	require.NoError(t, os.Remove(filepath.Join(state, "mine.txt")))
	s.must("--no-service", "--site-ini", s.site(), "--station", "POS-07")
	out, err = s.script("uninstall.sh", "--purge")
	require.NoError(t, err, out)
	require.NoDirExists(t, state)
}
