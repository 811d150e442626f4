package lease

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string in plain ASCII: everything outside it
// becomes \uXXXX, which every reader (Harbour among them) converts to its own
// code page. Nothing is escaped for HTML. Invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		b = appendRune(b, r)
	}
	return append(b, '"')
}

func appendRune(b []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r >= 0x20 && r < 0x7f:
		return append(b, byte(r))
	case r > 0xffff:
		hi, lo := utf16.EncodeRune(r)
		return appendEscape(appendEscape(b, hi), lo)
	}
	return appendEscape(b, r)
}

func appendEscape(b []byte, r rune) []byte {
	return append(b, '\\', 'u',
		hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// EscapedLen returns how many bytes s takes inside a record, quotes excluded:
// one per printable ASCII character, two for a quote or backslash, six for any
// other character (twelve outside the basic plane).
func EscapedLen(s string) int {
	n := 0
	var buf [16]byte
	for _, r := range s {
		n += len(appendRune(buf[:0], r))
	}
	return n
}

// cutEscaped shortens s on a character boundary to at most limit escaped bytes.
func cutEscaped(s string, limit int) string {
	n := 0
	for i, r := range s {
		n += EscapedLen(string(r))
		if n > limit {
			return s[:i]
		}
	}
	return s
}

// object builds a JSON object field by field, in the order of the calls.
type object struct{ b []byte }

func (o *object) name(key string) {
	if len(o.b) == 0 {
		o.b = append(o.b, '{')
	} else {
		o.b = append(o.b, ',')
	}
	o.b = appendString(o.b, key)
	o.b = append(o.b, ':')
}

func (o *object) text(key, val string) {
	o.name(key)
	o.b = appendString(o.b, val)
}

func (o *object) uint(key string, val uint64) {
	o.name(key)
	o.b = strconv.AppendUint(o.b, val, 10)
}

func (o *object) bool(key string, val bool) {
	o.name(key)
	o.b = strconv.AppendBool(o.b, val)
}

func (o *object) texts(key string, vals []string) {
	o.name(key)
	o.b = append(o.b, '[')
	for i, v := range vals {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendString(o.b, v)
	}
	o.b = append(o.b, ']')
}

// printable reports whether s is valid UTF-8 without control characters and
// without U+FFFD, the mark of a character that was lost on the way.
func printable(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError {
			return false
		}
	}
	return true
}
