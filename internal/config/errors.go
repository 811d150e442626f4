package config

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound says that no stk.ini is at any of the places searched.
var ErrNotFound = errors.New("no stk.ini found")

// ErrDamaged says that the file as a whole cannot be trusted: empty, NUL
// bytes, not a text, or without a single KEY=value line.
var ErrDamaged = errors.New("the file is damaged")

// Error is one problem of the configuration. It prints as one line.
type Error struct {
	File  string // path of the file, or "environment"
	Line  int    // 1-based; 0 when no line can be named
	Key   string // as in the table, or FLOATRELAY_<KEY>; empty for the file itself
	Value string // as written; always empty for a secret
	Cause string // what is wrong, when "is not allowed" is not enough
	Want  string // what is allowed, or what to do
	err   error
}

// Error returns "file:line: KEY=value cause; allowed: want".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key == "" {
		return b.String() + e.Cause + "; " + e.Want
	}
	b.WriteString(e.Key)
	if e.Value != "" {
		b.WriteString("=" + printable(e.Value))
	}
	cause := e.Cause
	if cause == "" {
		cause = "is not allowed"
	}
	return b.String() + " " + cause + "; allowed: " + e.Want
}

// Unwrap returns ErrDamaged, or why the file could not be read, where it applies.
func (e *Error) Unwrap() error { return e.err }

// Problems is everything that is wrong, one line each.
type Problems []*Error

// Error joins the lines.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, e := range p {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap makes errors.Is and errors.As look at every problem.
func (p Problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, e := range p {
		errs[i] = e
	}
	return errs
}

// Warning is something odd that does not keep the daemon from running.
type Warning struct {
	File string // path of the file, or "environment"
	Line int    // 1-based; 0 for the file as a whole
	Text string // never holds a secret
	// Foreign marks what is only odd to other programs: they would read
	// something else from the same line. "config --check" shows these too.
	Foreign bool
}

// String returns "file:line: text".
func (w Warning) String() string {
	if w.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text)
	}
	return w.File + ": " + w.Text
}

func damaged(file string, line int, cause string) *Error {
	return &Error{File: file, Line: line, Cause: cause,
		Want: "the file is damaged, restore it or write a new one (floatrelay config --template)", err: ErrDamaged}
}

// printable makes a value fit one line of a terminal.
func printable(s string) string {
	const most = 80
	out := []rune(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r >= 0x80 && r < 0xA0 || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, s))
	if len(out) > most {
		return string(out[:most]) + "…"
	}
	return string(out)
}
