package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// A handoff may name its successor in any case, or by member id.
func TestHandoff_WaitKnowsWhomItNamed(t *testing.T) {
	next := &localapi.Leader{KMSN: testKMSN, Station: "POS-01", IP: "192.168.1.11", Port: 9530, Epoch: 43, Ready: true}
	ids := map[string]string{}
	for _, m := range station().members.Members {
		ids[m.Station] = m.ID
	}
	require.NotEmpty(t, ids["POS-01"])
	for _, to := range []string{"pos-01", ids["POS-01"]} {
		s := station()
		s.after = next
		got := cli(t, "handoff", to, "--wait", "--config", ini(t, "API_ADDR="+serving(t, s)))
		require.Equal(t, exitOK, got.code, "%s: %s", to, got.err)
	}
}

// What --wait last saw is the reason it gives.
func TestHandoff_WaitSaysWhatItLastSaw(t *testing.T) {
	for name, c := range map[string]struct {
		after *localapi.Leader
		text  string
	}{
		"not ready": {&localapi.Leader{Station: "POS-01", Epoch: 43}, "POS-01 leads, but its relay does not answer yet"},
		"unmoved":   {nil, "still leads"},
	} {
		t.Run(name, func(t *testing.T) {
			var got result
			for _, timeout := range []string{"500ms", "2s", "8s", "20s"} { // a busy machine needs longer for a look
				s := station()
				s.after = c.after
				got = cli(t, "handoff", "--wait", "--timeout", timeout, "--config", ini(t, "API_ADDR="+serving(t, s)))
				require.Equal(t, exitNo, got.code)
				if strings.Contains(got.err, c.text) {
					break
				}
			}
			require.Contains(t, got.err, c.text)
		})
	}
}
