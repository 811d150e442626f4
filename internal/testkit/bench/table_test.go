package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[99-i] = time.Duration(i + 1)
	}
	for name, c := range map[string]struct {
		values []time.Duration
		q      float64
		want   time.Duration
	}{
		"of none":            {nil, 0.5, 0},
		"of one":             {[]time.Duration{7}, 0.99, 7},
		"median of three":    {[]time.Duration{9, 1, 5}, 0.5, 5},
		"median of four":     {[]time.Duration{9, 1, 5, 7}, 0.5, 5},
		"p99 of ten":         {hundred[90:], 0.99, 10},
		"p99 of a hundred":   {hundred, 0.99, 99},
		"largest":            {hundred, 1, 100},
		"smallest of a pair": {[]time.Duration{2, 1}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, quantile(c.values, c.q)) })
	}
	require.EqualValues(t, 100, hundred[0], "the values are left in their order")
}

func TestTable_Print(t *testing.T) {
	var b strings.Builder
	tab := table{head: []string{"a", "b"}, rows: [][]string{{"1", "2"}}, note: "Note."}
	require.NoError(t, tab.print(&b, "Title"))
	require.Equal(t, "Title:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nNote.\n\n", b.String())
}

func TestRun_NeedsABinary(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), options{runs: 1}, nil), "-exe")
}
