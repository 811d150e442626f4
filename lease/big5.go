package lease

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/traditionalchinese"
)

// scanBig5 reads an object with cp950 bytes. Their second byte may be 0x5C, a
// backslash: a program that escapes bytes has doubled it, a person has not. Both
// readings are tried; if they differ, the meaning is not certain.
func scanBig5(b []byte, known []string) (fields, []byte, error) {
	f1, rest1, err1 := scanBig5Bytes(b, known)
	f2, rest2, err2 := scanBig5Text(b, known)
	switch {
	case bytes.Contains(bytes.ToLower(b), []byte(`\uf7`)):
		return nil, nil, errors.New("cp950 bytes and private characters mixed")
	case err1 != nil && err2 != nil:
		return nil, nil, fmt.Errorf("neither UTF-8 nor cp950: %w", err2)
	case err1 != nil:
		return f2, rest2, nil
	case err2 != nil:
		return f1, rest1, nil
	case !sameFields(f1, f2):
		return nil, nil, errors.New("cp950 text that can be read in two ways")
	}
	return f1, rest1, nil
}

// scanBig5Text decodes the file first, then reads JSON.
func scanBig5Text(b []byte, known []string) (fields, []byte, error) {
	text, err := fromBig5(b)
	if err != nil {
		return nil, nil, err
	}
	return scanObject([]byte(text), known)
}

// High bytes travel through the JSON reader as private characters.
const highByte = 0xf700

// scanBig5Bytes reads JSON byte by byte first, then decodes each text.
func scanBig5Bytes(b []byte, known []string) (fields, []byte, error) {
	var wide []rune
	for _, c := range b {
		r := rune(c)
		if c >= 0x80 {
			r += highByte
		}
		wide = append(wide, r)
	}
	f, rest, err := scanObject([]byte(string(wide)), known)
	if err != nil {
		return nil, nil, err
	}
	for name, raw := range f {
		if f[name], err = narrow(raw); err != nil {
			return nil, nil, fmt.Errorf("field %q: %w", name, err)
		}
	}
	return f, rest, nil
}

// narrow turns the private characters of one JSON text back into bytes and
// decodes them. Values that are no texts stay as they are.
func narrow(raw json.RawMessage) (json.RawMessage, error) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return raw, nil
	}
	var out strings.Builder
	var run []byte // bytes not yet decoded
	for _, r := range s + "\x00" {
		switch {
		case r >= highByte+0x80 && r <= highByte+0xff:
			run = append(run, byte(r-highByte))
			continue
		case r > 0 && r < 0x80:
			run = append(run, byte(r))
			continue
		}
		text, err := fromBig5(run)
		if err != nil {
			return nil, err
		}
		out.WriteString(text)
		out.WriteRune(r)
		run = run[:0]
	}
	return appendString(nil, strings.TrimSuffix(out.String(), "\x00")), nil
}

func fromBig5(b []byte) (string, error) {
	out, err := traditionalchinese.Big5.NewDecoder().Bytes(b)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", errors.New("bytes that are not cp950 either")
	}
	return string(out), nil
}

func sameFields(a, b fields) bool {
	if len(a) != len(b) {
		return false
	}
	for name, raw := range a {
		other, ok := b[name]
		if !ok || jsonText(raw) != jsonText(other) {
			return false
		}
	}
	return true
}

// jsonText spells a JSON text uniformly; other values stay as written.
func jsonText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return string(appendString(nil, s))
}
