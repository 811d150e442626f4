package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columnGap separates two columns of a table.
const columnGap = "  "

// table lines rows up by the cells they take on a console, in which a Chinese
// character is two wide. Nothing is padded after the last column.
func table(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(strings.TrimRight(line(row, widths), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

func line(row []string, widths []int) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(columnGap)
		}
		b.WriteString(cell)
		b.WriteString(strings.Repeat(" ", widths[i]-displayWidth(cell)))
	}
	return b.String()
}

// displayWidth is the number of console cells s takes.
func displayWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0 // drawn over its neighbour, or not at all
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// clean makes text of another PC harmless for a console and keeps it on one
// line: control and direction characters become '?'.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, s)
}

// orDash shows an empty cell as "-", so that columns can be counted.
func orDash(s string) string {
	if s = clean(s); strings.TrimSpace(s) != "" {
		return s
	}
	return "-"
}
