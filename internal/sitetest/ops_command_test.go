package sitetest

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localsite"
)

// opsCommand runs a command line on a node's PC.
func opsCommand(t *testing.T, n *localsite.Node, args ...string) (code int, text string) {
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
	s, n, st := start(t, localsite.Options{Extra: steady()})
	s.roster(2)
	to, other := s.others(n)[0], s.others(n)[1]

	code, text := opsCommand(t, other, "handoff", "--wait")
	require.Equal(t, 1, code)
	require.Contains(t, text, "this station does not lead: run it on "+n.Station)
	code, text = opsCommand(t, n, "handoff", "POS-99", "--wait")
	require.Equal(t, 1, code)
	require.Contains(t, text, "no member is called POS-99")
	n, before, after := s.handOver(n, to, st.Epoch, func(from *localsite.Node) {
		want := to.Station + " leads, relay ready at "
		if code, text = opsCommand(t, from, "handoff", to.Station, "--wait"); code != 0 {
			want = "took over instead of " + to.Station
		}
		require.Contains(t, text, want)
	})
	require.Zero(t, code, text)
	require.Equal(t, before+1, after)

	gave := n.Station + " gave the lease back (handoff)"
	s.until(slack, "its history tells of it", func() error {
		if code, text = opsCommand(t, n, "history"); code != 0 || !strings.Contains(text, gave) {
			return fmt.Errorf("exit %d: %s", code, text)
		}
		return nil
	})
	require.NoError(t, n.Stop(s.within(2*slack)))
	code, text = opsCommand(t, n, "history")
	require.Equal(t, 0, code)
	require.Contains(t, text, gave)
	require.Contains(t, text, "no daemon answers")
}
