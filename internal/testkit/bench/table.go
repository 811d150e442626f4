package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// table is a markdown table.
type table struct {
	head []string
	rows [][]string
	note string
}

func (t table) print(out io.Writer, title string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n\n", title)
	for i, row := range append([][]string{t.head}, t.rows...) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	if t.note != "" {
		fmt.Fprintf(&b, "\n%s\n", t.note)
	}
	b.WriteString("\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// quantile returns the smallest value that at least the share q of all values
// do not exceed; 0 of none.
func quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
