package lease

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxLoose bounds a file that foreign programs may have written, in bytes.
const maxLoose = 64 << 10

// scanLoose reads a JSON object from a file other programs may have touched. It
// accepts what has one meaning only (a BOM, UTF-16 with its BOM, cp950 bytes,
// blanks, NULs or a DOS end-of-file mark behind the object) with a warning, and
// refuses everything else.
func scanLoose(b []byte, known []string) (f fields, warnings []string, err error) {
	switch {
	case len(b) == 0:
		return nil, nil, errors.New("empty")
	case len(b) > maxLoose:
		return nil, nil, fmt.Errorf("%d bytes, at most %d are read", len(b), maxLoose)
	case len(bytes.Trim(b, "\x00")) == 0:
		return nil, nil, errors.New("only NUL bytes, as after a power loss")
	}
	b, warning, err := stripBOM(b)
	if err != nil {
		return nil, nil, err
	}
	if warning != "" {
		warnings = append(warnings, warning)
	}
	var rest []byte
	if utf8.Valid(b) {
		f, rest, err = scanObject(b, known)
	} else {
		f, rest, err = scanBig5(b, known)
		warnings = append(warnings, "not UTF-8, read as cp950 (Big5)")
	}
	if err != nil {
		return nil, nil, err
	}
	warning, err = checkTail(rest)
	if warning != "" {
		warnings = append(warnings, warning)
	}
	if err != nil {
		return nil, nil, err
	}
	return f, warnings, nil
}

// stripBOM removes a byte order mark and turns UTF-16 into UTF-8.
func stripBOM(b []byte) (out []byte, warning string, err error) {
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return b[3:], "begins with a UTF-8 byte order mark", nil
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		out, err = fromUTF16(b[2:], binary.LittleEndian)
		return out, "written as UTF-16", err
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		out, err = fromUTF16(b[2:], binary.BigEndian)
		return out, "written as UTF-16", err
	}
	return b, "", nil
}

func fromUTF16(b []byte, order binary.ByteOrder) ([]byte, error) {
	if len(b)%2 != 0 {
		return nil, errors.New("UTF-16 with half a character at its end")
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	s := string(utf16.Decode(units))
	if strings.ContainsRune(s, utf8.RuneError) {
		return nil, errors.New("broken UTF-16")
	}
	return []byte(s), nil
}

// checkTail judges what follows the object.
func checkTail(rest []byte) (warning string, err error) {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if len(rest) == 0 {
		return "", nil
	}
	if len(bytes.Trim(rest, "\x00\x1a \t\r\n")) == 0 {
		return "NUL or end-of-file bytes behind the object", nil
	}
	return "", errors.New("something follows the object: a longer text was overwritten, or two were joined")
}

// has reports whether the object has this field at all.
func (r *reader) has(name string) bool {
	_, ok := r.f[name]
	return ok
}

// loose reads a whole number that may be written as text, padded with blanks,
// or with a fraction of zeros, as Harbour does. Signs and exponents are refused.
func (r *reader) loose(name string, lo, hi uint64) uint64 {
	s, ok := r.number(name)
	if !ok {
		return 0
	}
	return r.inRange(name, s, lo, hi)
}

// number returns the digits of a loosely written whole number.
func (r *reader) number(name string) (string, bool) {
	raw, ok := r.raw(name)
	if !ok {
		return "", false
	}
	if raw[0] == '"' {
		raw = strings.Trim(r.text(name), " ")
	}
	whole, fraction, point := strings.Cut(raw, ".")
	if !allDigits(whole) || point && strings.Trim(fraction, "0") != "" || point && fraction == "" {
		r.fail(name, "is not a whole number")
		return "", false
	}
	return whole, true
}

// printed reads a text without control characters, at most limit bytes.
func (r *reader) printed(name string, limit int) string {
	s := r.text(name)
	if r.err == nil && (!printable(s) || len(s) > limit) {
		r.fail(name, "is too long or contains a control character")
	}
	return s
}
