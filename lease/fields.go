package lease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// fields are the members of one JSON object, values as written.
type fields map[string]json.RawMessage

// scanObject reads one JSON object from the start of b and returns what follows
// it. Unlike encoding/json's structs it takes names exactly: a name that comes
// twice, or differs from a known one by case only, is an error, because another
// reader would see another value.
func scanObject(b []byte, known []string) (f fields, rest []byte, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	tok, err := dec.Token()
	if err != nil {
		return nil, nil, fmt.Errorf("not JSON: %w", err)
	}
	if tok != json.Delim('{') {
		return nil, nil, errors.New("not a JSON object")
	}
	f = fields{}
	for dec.More() {
		if err := f.scanField(dec, known); err != nil {
			return nil, nil, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, fmt.Errorf("broken JSON: %w", err)
	}
	return f, b[dec.InputOffset():], nil
}

func (f fields) scanField(dec *json.Decoder, known []string) error {
	tok, err := dec.Token()
	if err != nil {
		return fmt.Errorf("broken JSON: %w", err)
	}
	name, ok := tok.(string)
	if !ok {
		return fmt.Errorf("broken JSON: %v where a name belongs", tok)
	}
	if _, twice := f[name]; twice {
		return fmt.Errorf("field %q comes twice", name)
	}
	for _, k := range known {
		if name != k && strings.EqualFold(name, k) {
			return fmt.Errorf("field %q is not spelled %q", name, k)
		}
	}
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return fmt.Errorf("broken JSON in field %q: %w", name, err)
	}
	f[name] = raw
	return nil
}

// reader takes typed values out of fields and keeps the first error, so that
// nobody uses a half-filled result.
type reader struct {
	f   fields
	err error
}

func (r *reader) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("field %q %s", name, fmt.Sprintf(format, args...))
	}
}

// raw returns a field's text; a missing field or null is an error.
func (r *reader) raw(name string) (string, bool) {
	v, ok := r.f[name]
	switch {
	case !ok:
		r.fail(name, "is missing")
	case string(v) == "null":
		r.fail(name, "is null")
	default:
		return string(v), true
	}
	return "", false
}

func (r *reader) text(name string) string {
	raw, ok := r.raw(name)
	if !ok {
		return ""
	}
	var s string
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		r.fail(name, "is not a text")
		return ""
	}
	return s
}

// digits reads a plain JSON number without sign, fraction or exponent.
func (r *reader) digits(name string, lo, hi uint64) uint64 {
	raw, ok := r.raw(name)
	if !ok {
		return 0
	}
	return r.inRange(name, raw, lo, hi)
}

func (r *reader) inRange(name, digits string, lo, hi uint64) uint64 {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		r.fail(name, "is not a plain whole number")
		return 0
	}
	if n < lo || n > hi {
		r.fail(name, "is %d, outside %d to %d", n, lo, hi)
		return 0
	}
	return n
}

func (r *reader) texts(name string) []string {
	raw, ok := r.raw(name)
	if !ok {
		return nil
	}
	var list []*string
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		r.fail(name, "is not a list of texts")
		return nil
	}
	out := make([]string, 0, len(list))
	for _, s := range list {
		if s == nil {
			r.fail(name, "contains null")
			return nil
		}
		out = append(out, *s)
	}
	return out
}

// has reports whether the object has this field at all.
func (r *reader) has(name string) bool {
	_, ok := r.f[name]
	return ok
}

// printed reads a text without control characters, at most limit bytes.
func (r *reader) printed(name string, limit int) string {
	s := r.text(name)
	if r.err == nil && (!printable(s) || len(s) > limit) {
		r.fail(name, "is too long or contains a control character")
	}
	return s
}
