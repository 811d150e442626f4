package config

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/traditionalchinese"
)

// pairKind says what a two-byte sequence is in cp950.
type pairKind uint8

const (
	pairBad  pairKind = iota // not a character
	pairChar                 // assigned
	pairUser                 // end-user-defined (EUDC): a private-use code point
)

// isLead and isTrail are cp950's byte ranges. Trail bytes reach down into
// ASCII, which is why a file must be decoded before it is split.
func isLead(b byte) bool { return b >= 0x81 && b <= 0xFE }
func isTrail(b byte) bool {
	return b >= 0x40 && b <= 0x7E || b >= 0xA1 && b <= 0xFE
}

// cp950Pair decodes one lead and trail byte as Traditional Chinese Windows
// does. x/text's Big5 is the web's table; it differs where HKSCS and ETEN put
// characters of their own, and in three corners.
func cp950Pair(lead, trail byte) (rune, pairKind) {
	if !isLead(lead) || !isTrail(trail) {
		return utf8.RuneError, pairBad
	}
	code := int(lead)<<8 | int(trail)
	switch {
	case code == 0xF9FE:
		return '▓', pairChar // the web has U+FFED
	case code >= 0xA3C0 && code <= 0xA3E0:
		return utf8.RuneError, pairBad // control pictures of Big5-2003
	}
	if r, ok := userDefined(lead, trail); ok {
		return r, pairUser
	}
	if r := big5()[code]; r != 0 {
		return r, pairChar
	}
	return utf8.RuneError, pairBad
}

// big5 is x/text's table by lead and trail byte, made when the first cp950
// file is met; zero marks what is no character.
var big5 = sync.OnceValue(func() *[1 << 16]rune {
	var table [1 << 16]rune
	dec := traditionalchinese.Big5.NewDecoder()
	for code := 0x8140; code <= 0xFEFE; code++ {
		out, err := dec.Bytes([]byte{byte(code >> 8), byte(code)})
		if r, n := utf8.DecodeRune(out); err == nil && r != utf8.RuneError && n == len(out) && isTrail(byte(code)) {
			table[code] = r
		}
	}
	return &table
})

// userDefined maps cp950's four user-defined areas onto U+E000–U+F848 in the
// order Windows uses.
func userDefined(lead, trail byte) (rune, bool) {
	col := rune(trail) - 0x40
	if trail >= 0xA1 {
		col = rune(trail) - 0xA1 + 63
	}
	row := func(first byte) rune { return rune(lead-first)*157 + col }
	switch {
	case lead <= 0x8D:
		return 0xEEB8 + row(0x81), true
	case lead <= 0xA0:
		return 0xE311 + row(0x8E), true
	case lead == 0xC6 && trail >= 0xA1:
		return 0xF6B1 + col - 63, true
	case lead == 0xC7 || lead == 0xC8:
		return 0xF6B1 + 94 + row(0xC7), true
	case lead >= 0xFA:
		return 0xE000 + row(0xFA), true
	}
	return 0, false
}
