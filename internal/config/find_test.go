package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.ini"), filepath.Join(dir, "b.ini")
	_, err := find([]string{a, b})
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, a)
	require.ErrorContains(t, err, b)
	require.ErrorContains(t, err, "--config")
	require.NoError(t, os.WriteFile(b, nil, 0o600))
	got, err := find([]string{a, b})
	require.NoError(t, err)
	require.Equal(t, b, got)
	require.NoError(t, os.Mkdir(a, 0o700))
	got, err = find([]string{a, b})
	require.NoError(t, err)
	require.Equal(t, b, got, "a folder is no stk.ini")
	got, err = Find("rel.ini")
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(got), "the flag is taken as it is, found or not")
	_, err = Find("")
	require.ErrorContains(t, err, SystemPath, "the test binary has no stk.ini beside it")
}

func TestLoad_File(t *testing.T) {
	p := filepath.Join(t.TempDir(), "stk.ini")
	_, err := Load(p, nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Equal(t, 1, strings.Count(err.Error(), p), "named once: %v", err)
	_, err = Load(filepath.Dir(p), nil)
	require.ErrorContains(t, err, "this is a folder, not a file")
	require.NoError(t, os.WriteFile(p, []byte("KMSN=1\r\nSTATION=A\r\nRELAY_TOKEN=0123456789abcdef\r\nSTATE_DIR=/s\r\n"), 0o600))
	l, err := Load(p, nil)
	require.NoError(t, err)
	require.Equal(t, p, l.Config.Path)
	require.NoError(t, os.WriteFile(p, make([]byte, maxFile+1), 0o600))
	_, err = Load(p, nil)
	require.ErrorContains(t, err, "larger than")
}

func TestNotFile(t *testing.T) {
	for mode, want := range map[os.FileMode]string{
		0o600: "", os.ModeIrregular: "", os.ModeDir: "folder", os.ModeNamedPipe: "named pipe (fifo)",
		os.ModeSocket: "socket", os.ModeDevice | os.ModeCharDevice: "device",
	} {
		require.Equal(t, want, notFile(mode), mode)
	}
}

func TestStrayEnv(t *testing.T) {
	var said []string
	for _, w := range StrayEnv([]string{
		"FLOATRELAY_STATION=A", "FLOATRELAY_SERVICE_PASSWORD=x", "FLOATRELAY_LEASE_TTTL=", "PATH=/bin", "FLOATRELAY_=x", "=C:=C:",
		"FLOATRELAY_RELAY_TOKN=secret", "FLOATRELAY_FOO=1",
	}) {
		said = append(said, w.String())
	}
	require.Equal(t, []string{
		"environment: FLOATRELAY_RELAY_TOKN is no setting and is ignored; did you mean FLOATRELAY_RELAY_TOKEN?",
		"environment: FLOATRELAY_FOO is no setting and is ignored",
	}, said)
}
