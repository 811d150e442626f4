package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
)

func TestFailureLine(t *testing.T) {
	for want, r := range map[string]localapi.RelayStatus{
		"failed: exit code 3": {Failures: 1, LastEnd: "exit code 3"},
		"failed 4 times in a row: exit code 3; next try at 12:00:05": {
			Failures: 4, LastEnd: "exit code 3", NextTry: "2026-01-15T12:00:05+08:00",
		},
		"failed 2 times in a row: port 9530 is also held by pid 7": {Failures: 2, LastEnd: "port 9530 is also held by pid 7"},
	} {
		require.Equal(t, want, failureLine(r))
	}
}

// What went wrong stands below the relay, whether one runs or not.
func TestStatusText_RelayThatFails(t *testing.T) {
	s := localapi.Status{Relay: localapi.RelayStatus{State: "none", Failures: 4, LastEnd: "exit code 3"}}
	require.Contains(t, (&app{}).statusText(s, localapi.Members{}, localapi.Leader{}), "failed 4 times in a row: exit code 3")
	s.Relay.Failures = 0
	require.NotContains(t, (&app{}).statusText(s, localapi.Members{}, localapi.Leader{}), "failed")
}
