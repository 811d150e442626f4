package metrics

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/forward"
)

func TestMetrics_Forward(t *testing.T) {
	r := newRig()
	require.NotContains(t, r.scrape(t), "floatrelay_forward", "without FORWARD_PORT")
	r.src.Forward = func() (forward.Stats, bool) {
		return forward.Stats{Open: 1, Held: 2, Fallback: 3, Accepted: 40, Full: 5, Late: 6, GaveUp: 7, Up: 8, Down: 9}, true
	}
	for _, line := range []string{
		`floatrelay_forward_connections{to="relay"} 1`, `floatrelay_forward_connections{to="held"} 2`,
		`floatrelay_forward_connections{to="fallback"} 3`, `floatrelay_forward_accepted_total 40`,
		`floatrelay_forward_refused_total{why="full"} 5`, `floatrelay_forward_refused_total{why="late"} 6`,
		`floatrelay_forward_refused_total{why="gone"} 7`,
		`floatrelay_forward_bytes_total{direction="up"} 8`, `floatrelay_forward_bytes_total{direction="down"} 9`,
	} {
		r.shows(t, line)
	}
}
