package logging

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// maxLine bounds one line in bytes; the rest is cut off and marked.
const maxLine = 4 << 10

// cleanLine returns a copy of p as one line of valid UTF-8 that ends with a
// newline: control characters inside are replaced, so that the output of a
// relay can neither forge entries nor steer a terminal.
func cleanLine(p []byte) []byte {
	p = bytes.TrimRight(p, "\r\n")
	cut := len(p) > maxLine
	if cut {
		p = wholeRunes(p[:maxLine])
	}
	out := make([]byte, 0, len(p)+len("…\n"))
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		p = p[n:]
		switch {
		case r == '\n':
			out = append(out, `\n`...)
		case r != '\t' && unicode.IsControl(r):
			out = append(out, '?')
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	if cut {
		out = append(out, "…"...)
	}
	return append(out, '\n')
}

// wholeRunes drops a character at the end of p that was cut in two.
func wholeRunes(p []byte) []byte {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return p[:i]
			}
			return p
		}
	}
	return p
}
