//go:build !windows

package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStateDirFor(t *testing.T) {
	env := func(pairs map[string]string) Env {
		return func(k string) (string, bool) { v, ok := pairs[k]; return v, ok }
	}
	require.Equal(t, "/var/lib/floatrelay", stateDirFor(0, env(nil)))
	require.Equal(t, "/x/floatrelay", stateDirFor(1000, env(map[string]string{"XDG_STATE_HOME": "/x", "HOME": "/h"})))
	require.Equal(t, "/h/.local/state/floatrelay", stateDirFor(1000, env(map[string]string{"XDG_STATE_HOME": "x", "HOME": "/h"})))
	require.Empty(t, stateDirFor(1000, env(nil)), "never the working directory")
}
