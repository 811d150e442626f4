package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeProgram stands for floatrelay in the scripts' tests: it notes how it was
// called, and refuses a stk.ini that says so.
const fakeProgram = `#!/bin/sh
echo "VERSION $*" >> "$(dirname "$0")/calls"
for last; do :; done
! grep -q BROKEN "$last" 2>/dev/null
`

// install.sh makes a stk.ini once, copies the program, keeps the one before, and
// puts it back.
func TestInstallScript(t *testing.T) {
	script, err := filepath.Abs("../../deploy/linux/install.sh")
	require.NoError(t, err)
	root := filepath.Join(t.TempDir(), "許功蓋 x")
	archive, prefix, etc := filepath.Join(root, "a"), filepath.Join(root, "bin"), filepath.Join(root, "etc")
	require.NoError(t, os.MkdirAll(archive, 0o755))
	body, err := os.ReadFile(script)
	require.NoError(t, err)
	write := func(path, text string, mode os.FileMode) {
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
	}
	write(filepath.Join(archive, "install.sh"), string(body), 0o755)
	write(filepath.Join(archive, "floatrelay"), fakeProgram+"# one\n", 0o755)
	write(filepath.Join(archive, "stk.ini.template"), "; template\r\n", 0o644)
	site := filepath.Join(root, "site.ini")
	write(site, "[RELAY]\r\nKMSN=4711\r\n", 0o600)
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(archive, "install.sh"),
			append([]string{"--no-service", "--prefix", prefix, "--etc", etc}, args...)...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	has := func(path, text string) {
		t.Helper()
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Contains(t, string(b), text)
	}

	out, err := run("--site-ini", site)
	require.Error(t, err)
	require.Contains(t, out, "--station")
	out, err = run("--site-ini", site, "--station", "POS-07")
	require.NoError(t, err, out)
	has(filepath.Join(etc, "stk.ini"), "STATION=POS-07\r\n[RELAY]\r\nKMSN=4711\r\n")
	st, err := os.Stat(filepath.Join(etc, "stk.ini"))
	require.NoError(t, err)
	require.Zero(t, st.Mode().Perm()&0o077, "it holds the secret")
	has(filepath.Join(prefix, "floatrelay"), "# one")

	write(filepath.Join(archive, "floatrelay"), fakeProgram+"# two\n", 0o755)
	out, err = run()
	require.NoError(t, err, out)
	has(filepath.Join(prefix, "floatrelay"), "# two")
	has(filepath.Join(prefix, "floatrelay.previous"), "# one")
	has(filepath.Join(etc, "stk.ini"), "POS-07")
	out, err = run("--rollback")
	require.NoError(t, err, out)
	has(filepath.Join(prefix, "floatrelay"), "# one")

	t.Run("a broken stk.ini stops it before anything is replaced", func(t *testing.T) {
		write(filepath.Join(etc, "stk.ini"), "BROKEN\r\n", 0o600)
		write(filepath.Join(archive, "floatrelay"), fakeProgram+"# three\n", 0o755)
		out, err := run()
		require.Error(t, err)
		require.Contains(t, out, "correct")
		has(filepath.Join(prefix, "floatrelay"), "# one")
	})
	t.Run("no stk.ini and no site", func(t *testing.T) {
		require.NoError(t, os.Remove(filepath.Join(etc, "stk.ini")))
		out, err := run()
		require.Error(t, err)
		require.Contains(t, out, "fill in")
		has(filepath.Join(etc, "stk.ini"), "; template")
	})
}
