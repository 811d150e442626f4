package lease

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/traditionalchinese"
)

// floorStep bounds how far a view may raise what is known: a renewal every
// half second for sixteen years. A forged or damaged view cannot use up the ten
// digits of a rev with it.
const floorStep = 1_000_000_000

// maxFloor bounds a view that foreign programs may have written, in bytes.
const maxFloor = 64 << 10

// Floor is what a relay_leader.json tells this program: below which rev and
// epoch nothing may fall although a folder was lost. Zero is "not told".
type Floor struct {
	KMSN       string
	Rev, Epoch uint64
}

// Raise returns the highest rev and epoch known: rev and epoch as known before,
// raised by the view if it is of our site and plausible.
func (f Floor) Raise(kmsn string, rev, epoch uint64) (uint64, uint64) {
	if f.KMSN != kmsn || f.Rev > min(rev+floorStep, MaxRev/2) || f.Epoch > min(epoch+floorStep, MaxRev/2) {
		return rev, epoch
	}
	return max(rev, f.Rev), max(epoch, f.Epoch)
}

// ParseFloor reads a relay_leader.json as Harbour programs, Notepad and
// PowerShell may have left it. kmsn, rev and epoch are read each for itself:
// what one of them, or any other field, looks like costs the others nothing.
// dropped names what could not be read. A file that is no JSON object, or two,
// is an error.
func ParseFloor(b []byte) (f Floor, dropped []string, err error) {
	found, err := scanView(b)
	if err != nil {
		return Floor{}, nil, fmt.Errorf("read %s: %w", ViewName, err)
	}
	read := func(name string, take func(raw string) error) {
		raw, one := found[name], true
		for other := range found {
			one = one && (other == name || !strings.EqualFold(other, name))
		}
		switch {
		case len(raw) == 0 && one:
			return // not told
		case len(raw) != 1 || !one:
			err = errors.New("comes twice, or in another spelling")
		default:
			err = take(raw[0])
		}
		if err != nil {
			dropped = append(dropped, fmt.Sprintf("%q %s", name, err))
		}
	}
	read("kmsn", func(raw string) (err error) { f.KMSN, err = floorText(raw); return err })
	read("rev", func(raw string) (err error) { f.Rev, err = floorNumber(raw); return err })
	read("epoch", func(raw string) (err error) { f.Epoch, err = floorNumber(raw); return err })
	return f, dropped, nil
}

// floorText reads a text without lost characters.
func floorText(raw string) (s string, err error) {
	if json.Unmarshal([]byte(raw), &s) != nil || strings.TrimSpace(s) == "" || !printable(s) {
		return "", errors.New("is not a text that can be read")
	}
	return s, nil
}

// floorNumber reads a whole number as any program may print it: as text, padded,
// with a fraction of zeros or an exponent.
func floorNumber(raw string) (uint64, error) {
	var s string
	if json.Unmarshal([]byte(raw), &s) == nil {
		raw = strings.Trim(s, " ")
	}
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil || strings.Trim(raw, "0123456789.eE+") != "" || n != math.Trunc(n) || n > MaxRev {
		return 0, fmt.Errorf("is not a whole number up to %d", uint64(MaxRev))
	}
	return uint64(n), nil
}

// viewTail is what may stand behind a view: line ends, NULs, DOS' end of file.
const viewTail = "\x00\x1a \t\r\n"

// scanView reads the fields of one JSON object, every value each name has.
func scanView(b []byte) (map[string][]string, error) {
	if len(b) > maxFloor {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(b), maxFloor)
	}
	b = bytes.TrimRight(plainText(b), viewTail)
	if len(b) == 0 {
		return nil, errors.New("empty, or only NUL bytes as after a power loss")
	}
	found, dec := map[string][]string{}, json.NewDecoder(bytes.NewReader(b))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	for dec.More() {
		name, err := dec.Token()
		var raw json.RawMessage
		if err == nil {
			err = dec.Decode(&raw)
		}
		if err != nil {
			return nil, fmt.Errorf("broken JSON: %w", err)
		}
		found[name.(string)] = append(found[name.(string)], string(raw))
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("broken JSON: %w", err)
	}
	if int64(len(b)) > dec.InputOffset() {
		return nil, errors.New("something follows the object: a longer text was overwritten, or two were joined")
	}
	return found, nil
}

// plainText returns UTF-8: byte order marks and UTF-16 as Notepad writes them
// are undone, and cp950 is decoded, unless that breaks the text: a program that
// escapes bytes has doubled the backslash in a character.
func plainText(b []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
		if decoded, err := traditionalchinese.Big5.NewDecoder().Bytes(b); !utf8.Valid(b) && err == nil && json.Valid(bytes.TrimRight(decoded, viewTail)) {
			return decoded
		}
		return b
	}
	var units []uint16
	for b = b[2:]; len(b) >= 2; b = b[2:] {
		units = append(units, order.Uint16(b))
	}
	return []byte(string(utf16.Decode(units)))
}

// ReadFloor reads relay_leader.json and names what is odd with it: what was
// dropped, and files whose names differ from it by case only, which clients may
// take for it. It fails with the share's errors, or with ParseFloor's.
func (c *Chain) ReadFloor(ctx context.Context) (f Floor, remarks []string, err error) {
	names, err := c.share.List(ctx, "")
	if err != nil {
		return Floor{}, nil, fmt.Errorf("read the view: %w", err)
	}
	for _, name := range names {
		if name != ViewName && strings.EqualFold(name, ViewName) {
			remarks = append(remarks, fmt.Sprintf("%s stands beside %s: clients may read the wrong one: remove it", name, ViewName))
		}
	}
	b, err := c.share.Read(ctx, ViewName)
	if err != nil {
		return Floor{}, remarks, fmt.Errorf("read the view: %w", err)
	}
	f, dropped, err := ParseFloor(b)
	if len(dropped) > 0 {
		remarks = append(remarks, fmt.Sprintf("%s: %s: ignored", ViewName, strings.Join(dropped, ", ")))
	}
	return f, remarks, err
}
