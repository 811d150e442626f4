package sitetest

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/station"
)

// opsCommand runs a command line on a node's PC.
func opsCommand(t *testing.T, n *station.Node, args ...string) (code int, text string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), exe, append(args, "--config", n.ConfigPath())...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), string(out)
	}
	require.NoError(t, err)
	return 0, string(out)
}

// handoff --wait returns once the new relay is ready, and gives the reason
// where it cannot; history tells of it afterwards, also without a daemon.
func TestOps_HandoffCommand(t *testing.T) {
	t.Parallel()
	s, n, st := start(t, station.Options{})
	s.roster(2)
	to, other := s.others(n)[0], s.others(n)[1]
	s.member(n, to, "may lead", func(m localapi.Member) bool { return m.Eligible })

	code, text := opsCommand(t, other, "handoff", "--wait")
	require.Equal(t, 1, code)
	require.Contains(t, text, "this station does not lead: run it on "+n.Station)
	code, text = opsCommand(t, n, "handoff", "POS-99", "--wait")
	require.Equal(t, 1, code)
	require.Contains(t, text, "no member is called POS-99")
	code, text = opsCommand(t, n, "handoff", to.Station, "--wait")
	require.Equal(t, 0, code, text)
	require.Contains(t, text, to.Station+" leads, relay ready at ")
	l, after := s.leader(st.Epoch, slack)
	require.Equal(t, to.Station, l.Station)
	require.Equal(t, st.Epoch+1, after.Epoch)

	gave := n.Station + " gave the lease back (handoff)"
	code, text = opsCommand(t, n, "history")
	require.Equal(t, 0, code)
	require.Contains(t, text, gave)
	require.NoError(t, n.Stop(s.within(2*slack)))
	code, text = opsCommand(t, n, "history")
	require.Equal(t, 0, code)
	require.Contains(t, text, gave)
	require.Contains(t, text, "no daemon answers")
}
