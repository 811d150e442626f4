package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A share that hangs must not keep a command from ending.
func TestUnlessEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung := make(chan struct{})
		defer close(hung)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := unlessEnded(ctx, func() (int, error) { <-hung; return 1, nil })
			ended <- err
		}()
		synctest.Wait()
		require.Empty(t, ended, "it waits")
		cancel()
		require.ErrorIs(t, <-ended, errInterrupted)
	})
	bad := errors.New("bad")
	v, err := unlessEnded(t.Context(), func() (int, error) { return 7, bad })
	require.Equal(t, 7, v)
	require.ErrorIs(t, err, bad)
}

// What cannot be read is told like any other problem: with a summary, and with
// what to do.
func TestConfig_CheckOfWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "stk.ini")
	for path, want := range map[string]string{
		missing: missing + ": there is no such file; name another with --config, or write one (floatrelay config --template)",
		dir:     dir + ": this is a folder, not a file; name a stk.ini with --config",
	} {
		got := cli(t, "config", "--check", "--config", path)
		require.Equal(t, result{exitUsage, "error    " + want + "\n" +
			"1 error, 0 warnings, 0 lines that other programs may read differently\n",
			"floatrelay: the configuration has a problem\n"}, got)
		got = cli(t, "run", "--config", path)
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, "floatrelay: "+want+"\n")
	}
}

func TestConfig_MisspelledVariablesAreNamed(t *testing.T) {
	env := []string{"FLOATRELAY_RELAY_PROT=9000", "FLOATRELAY_SERVICE_PASSWORD=x"}
	const want = "warning: environment: FLOATRELAY_RELAY_PROT is no setting and is ignored; did you mean FLOATRELAY_RELAY_PORT?"
	got := cliContext(t.Context(), env, "config", "--config", ini(t))
	require.Contains(t, got.err, want)
	require.NotContains(t, got.err, "SERVICE_PASSWORD")
	got = cliContext(t.Context(), env, "config", "--check", "--config", ini(t))
	require.Equal(t, exitOK, got.code)
	require.Contains(t, got.out, "warning  environment: FLOATRELAY_RELAY_PROT is no setting")
}

func TestGroups_HelpIsHelp(t *testing.T) {
	for _, group := range []string{"service", "token"} {
		got := cli(t, group, "help")
		require.Equal(t, exitOK, got.code, got.err)
		require.Equal(t, cli(t, group, "--help").out, got.out)
		require.Equal(t, exitUsage, cli(t, group, "help", "foo").code)
	}
}
