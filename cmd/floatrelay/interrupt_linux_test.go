package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Opening a pipe would wait for its writer for ever.
func TestConfig_APipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ini")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	for _, p := range []string{path, os.DevNull} {
		got := cli(t, "config", "--config", p)
		require.Equal(t, exitUsage, got.code)
		require.Equal(t, 1, strings.Count(got.err, p), got.err)
		require.Regexp(t, "this is a (named pipe \\(fifo\\)|device), not a file", got.err)
	}
}

func TestConfig_CheckOfAProgramThatIsNotExecutable(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "relay")
	require.NoError(t, os.WriteFile(exe, []byte("x"), 0o644))
	got := cli(t, "config", "--check", "--config", ini(t, "RELAY_EXE="+exe))
	require.Equal(t, exitOK, got.code)
	require.Contains(t, got.out, "RELAY_EXE="+exe+" is not executable (chmod +x): this PC will not run the relay until it is")
}
