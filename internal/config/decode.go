package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decoded is a file as text, with what was noticed on the way. Offsets are
// byte offsets into text.
type decoded struct {
	text     string
	encoding string
	notes    []note
	tail5C   map[int]bool // offsets just behind a character whose second byte is 0x5C
}

type note struct {
	off     int
	text    string
	foreign bool
}

// decode turns the bytes of a file into text. It fails only where no reading
// makes sense; single bad bytes become U+FFFD and a note.
func decode(data []byte) (decoded, string) {
	if len(bytes.TrimRight(data, "\x00")) == 0 {
		if len(data) == 0 {
			return decoded{}, "the file is empty"
		}
		return decoded{}, fmt.Sprintf("all %d bytes of the file are NUL", len(data))
	}
	switch {
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(data, []byte{0, 0, 0xFE, 0xFF}):
		return decoded{}, "the file is UTF-32 text, which is not supported (save it as UTF-8)"
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return decodeUTF16(data[2:], false, "UTF-16 LE"), ""
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		return decodeUTF16(data[2:], true, "UTF-16 BE"), ""
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		return decodeBOM(data[3:]), ""
	}
	if big, ok := guessUTF16(data); ok {
		d := decodeUTF16(data, big, map[bool]string{false: "UTF-16 LE", true: "UTF-16 BE"}[big]+" without BOM")
		d.add(0, false, "the file looks like UTF-16 without its BOM and is read so; save it as UTF-8")
		return d, ""
	}
	return decodeBytes(data), ""
}

// decodeBOM reads what follows a UTF-8 BOM: as UTF-8, unless some tool put the
// BOM in front of cp950 text, which shows by fewer bad characters.
func decodeBOM(data []byte) decoded {
	d, bad := decodeUTF8(data)
	d.encoding = "UTF-8 with BOM"
	if bad > 0 {
		if c, cbad := decodeCP950(data); cbad < bad {
			d = c
			d.encoding = "cp950 behind a UTF-8 BOM"
			d.add(0, false, "the file starts with a UTF-8 BOM but is cp950, and is read so; save it as UTF-8")
		}
	}
	d.add(0, true, "the file starts with a BOM: a reader that does not know it misses the first line")
	return d
}

// decodeBytes chooses between UTF-8 and cp950: the reading with fewer bad
// characters, cp950 when both have some.
func decodeBytes(data []byte) decoded {
	u, bad := decodeUTF8(data)
	if bad == 0 {
		u.noteAmbiguous(data)
		return u
	}
	c, cbad := decodeCP950(data)
	if bad < cbad {
		return u
	}
	return c
}

func (d *decoded) add(off int, foreign bool, format string, args ...any) {
	d.notes = append(d.notes, note{off, fmt.Sprintf(format, args...), foreign})
}

func decodeUTF8(data []byte) (decoded, int) {
	d := decoded{encoding: "UTF-8"}
	var b strings.Builder
	bad := 0
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			bad++
			d.add(b.Len(), false, "byte 0x%02X is not UTF-8", data[i])
		}
		b.WriteRune(r)
		i += n
	}
	d.text = b.String()
	return d, bad
}

// noteAmbiguous warns where text that is valid UTF-8 is just as well cp950:
// all its special characters are two bytes long and Chinese ones in cp950.
func (d *decoded) noteAmbiguous(data []byte) {
	first := -1
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, n := utf8.DecodeRune(data[i:])
		if n != 2 {
			return
		}
		if _, kind := cp950Pair(data[i], data[i+1]); kind != pairChar {
			return
		}
		if first < 0 {
			first = i
		}
		i += n
	}
	if first >= 0 {
		d.add(first, false, "the special characters of this file are valid UTF-8 and valid cp950; read as UTF-8 (save the file as UTF-8 with BOM to be sure)")
	}
}

// decodeCP950 keeps user-defined characters, as Windows does, and warns.
func decodeCP950(data []byte) (decoded, int) {
	d := decoded{encoding: "cp950", tail5C: map[int]bool{}}
	var b strings.Builder
	bad := 0
	for i := 0; i < len(data); i++ {
		c := data[i]
		if c < utf8.RuneSelf {
			b.WriteByte(c)
			continue
		}
		if i+1 == len(data) || !isLead(c) || !isTrail(data[i+1]) {
			bad++
			d.add(b.Len(), false, "byte 0x%02X is neither UTF-8 nor cp950", c)
			b.WriteRune(utf8.RuneError)
			continue
		}
		i++
		r, kind := cp950Pair(c, data[i])
		switch kind {
		case pairBad:
			bad++
			d.add(b.Len(), false, "bytes 0x%02X%02X are no cp950 character", c, data[i])
		case pairUser:
			d.add(b.Len(), false, "bytes 0x%02X%02X are a user-defined character, which other PCs may show differently", c, data[i])
		}
		b.WriteRune(r)
		if data[i] == '\\' {
			d.tail5C[b.Len()] = true
		}
	}
	d.text = b.String()
	return d, bad
}

func decodeUTF16(data []byte, big bool, name string) decoded {
	d := decoded{encoding: name}
	d.add(0, true, "the file is UTF-16, which Harbour and the ANSI functions of Windows do not read")
	unit := func(i int) rune {
		if big {
			return rune(data[i])<<8 | rune(data[i+1])
		}
		return rune(data[i+1])<<8 | rune(data[i])
	}
	var b strings.Builder
	n := len(data) &^ 1
	for i := 0; i < n; i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			full := utf8.RuneError
			if i+2 < n {
				full = utf16.DecodeRune(r, unit(i+2))
			}
			if full == utf8.RuneError {
				d.add(b.Len(), false, "0x%04X is half a character", r)
			} else {
				i += 2
			}
			r = full
		}
		b.WriteRune(r)
	}
	if n < len(data) && data[n] != 0 {
		d.add(b.Len(), false, "the file ends with half a character")
		if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
			b.WriteRune(utf8.RuneError) // no secret that ends there may pass
		}
	}
	d.text = b.String()
	return d
}

// guessUTF16 recognises UTF-16 text without a BOM by the zero halves of its
// ASCII characters.
func guessUTF16(data []byte) (big, ok bool) {
	le, be, all := 0, 0, 0
	for i := 0; i+1 < len(data); i += 2 {
		lo, hi := data[i] != 0, data[i+1] != 0
		if lo || hi {
			all++
		}
		if lo && !hi {
			le++
		}
		if hi && !lo {
			be++
		}
	}
	if most := max(le, be); most*3 < all || most < 3 || most < 4*min(le, be) {
		return false, false
	}
	return be > le, true
}
