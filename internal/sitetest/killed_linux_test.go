package sitetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever owns a site is killed, as a test is that hangs: no daemon, guard or relay
// of the site lives on.
func TestU12_KilledOwnerLeavesNoProcess(t *testing.T) {
	t.Parallel()
	s := &site{t: t}
	dir := t.TempDir()
	cmd := exec.Command(exe, "demo")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	s.until(2*slack, "a relay of the demo lives", func() error {
		lives, _ := filepath.Glob(dir + "/floatrelay-demo-*/pos-*/life")
		if len(lives) == 0 {
			return errNotYet
		}
		return nil
	})
	require.NotEmpty(t, mentioning(t, dir))

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	s.until(slack, "no process of the demo is left", func() error {
		if left := mentioning(t, dir); len(left) > 0 {
			return fmt.Errorf("still there: %q", left)
		}
		return nil
	})
}

// mentioning lists the processes that name dir in their arguments or environment.
func mentioning(t *testing.T, dir string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, p := range all {
		args, err := os.ReadFile(p + "/cmdline")
		env, err2 := os.ReadFile(p + "/environ")
		if errors.Join(err, err2) == nil && strings.Contains(string(args)+string(env), dir) {
			found = append(found, strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return found
}
