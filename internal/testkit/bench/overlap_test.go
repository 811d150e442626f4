package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/demo"
)

// TestR6_TwoRelaysFailTheBench: the table is printed, and the run fails.
func TestR6_TwoRelaysFailTheBench(t *testing.T) {
	for overlap, fails := range map[time.Duration]bool{0: false, time.Millisecond: true} {
		var out strings.Builder
		opt := options{runs: 2, nodes: 3, faults: "kill,crash"}
		opt.demo = func(_ context.Context, d demo.Options) (demo.Result, error) {
			r := demo.Result{Ready: time.Second, Stable: true, Received: [2]int{1, 1}}
			if d.Fault == demo.Kill {
				r.Overlap = overlap
			}
			return r, nil
		}
		err := failovers(t.Context(), opt, &out)
		require.Equal(t, fails, err != nil)
		require.Contains(t, out.String(), "| crash |")
	}
}
