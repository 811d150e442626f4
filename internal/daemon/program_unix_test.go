//go:build !windows

package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/words"
)

func TestCheckRelayExe_NotExecutable(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "relay")
	require.NoError(t, os.WriteFile(exe, []byte("x"), 0o644))
	require.Equal(t, "RELAY_EXE "+exe+" is not executable (chmod +x)", words.English.All(checkRelayExe(exe)))
	require.NoError(t, os.Chmod(exe, 0o755))
	require.Empty(t, checkRelayExe(exe))
}
