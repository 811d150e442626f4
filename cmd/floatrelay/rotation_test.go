package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// While the token is changed, stk.ini may be ahead of the daemon: what changes
// something works with the old token too, and with no other.
func TestRotation_ADaemonOnTheOldTokenIsAsked(t *testing.T) {
	s := station()
	addr := "API_ADDR=" + serving(t, s) // knows testToken only
	const fresh = "FLOATRELAY_RELAY_TOKEN=the-new-token-of-this-site"
	with := []string{fresh, "FLOATRELAY_RELAY_TOKEN_OLD=" + testToken}
	file := ini(t, addr)
	for _, line := range []string{"handoff", "drain", "undrain"} {
		got := cliContext(t.Context(), with, line, "--config", file)
		require.Equal(t, exitOK, got.code, "%s: %s", line, got.err)
		got = cliContext(t.Context(), []string{fresh}, line, "--config", file)
		require.Equal(t, exitNo, got.code, line)
		require.Contains(t, got.err, line+" refused")
	}
	require.Equal(t, []string{""}, s.to, "once, and not by who has only the new token")
	require.Equal(t, []bool{true, false}, s.drained)
}
