package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCP950Pair(t *testing.T) {
	for _, c := range []struct {
		pair string
		want rune
		kind pairKind
	}{
		{"\xA4\xA4", '中', pairChar}, {"\xA4\x40", '一', pairChar}, {"\xC9\x40", '乂', pairChar},
		{"\xA1\x45", '‧', pairChar}, {"\xA3\xE1", '€', pairChar}, {"\xA1\x5A", '╴', pairChar},
		{"\xF9\xD5", '龘', pairChar}, {"\xF9\xD6", '碁', pairChar}, {"\xF9\xD8", '裏', pairChar}, {"\xF9\xFE", '▓', pairChar},
		// The first and last of each user-defined area.
		{"\xFA\x40", 0xE000, pairUser}, {"\xFE\xFE", 0xE310, pairUser},
		{"\x8E\x40", 0xE311, pairUser}, {"\xA0\xFE", 0xEEB7, pairUser},
		{"\x81\x40", 0xEEB8, pairUser}, {"\x8D\xFE", 0xF6B0, pairUser},
		{"\xC6\xA1", 0xF6B1, pairUser}, {"\xC6\xFE", 0xF70E, pairUser}, {"\xC7\x40", 0xF70F, pairUser}, {"\xC8\xFE", 0xF848, pairUser},
		{"\xA3\xC0", '\uFFFD', pairBad}, {"\x80\x40", '\uFFFD', pairBad}, {"\xFF\x40", '\uFFFD', pairBad},
		{"\xA4\x7F", '\uFFFD', pairBad}, {"\xA4\xA0", '\uFFFD', pairBad}, {"\xA4\x3D", '\uFFFD', pairBad},
	} {
		got, kind := cp950Pair(c.pair[0], c.pair[1])
		require.Equal(t, c.kind, kind, "%X", c.pair)
		require.Equal(t, string(c.want), string(got), "%X", c.pair)
	}
}

// cp950 assigns 13,503 pairs beside its user-defined areas.
func TestCP950Pair_Count(t *testing.T) {
	chars, user, seen := 0, 0, map[rune]bool{}
	for lead := 0; lead < 256; lead++ {
		for trail := 0; trail < 256; trail++ {
			r, kind := cp950Pair(byte(lead), byte(trail))
			if kind == pairUser {
				require.False(t, seen[r])
				seen[r] = true
				user++
			}
			if kind == pairChar {
				chars++
			}
		}
	}
	require.Equal(t, 13503, chars)
	require.Equal(t, 0xF848-0xE000+1, user)
}

func TestDecode_ChoosesTheEncoding(t *testing.T) {
	for name, c := range map[string]struct{ raw, encoding string }{
		"ASCII":                         {"A=1", "UTF-8"},
		"UTF-8":                         {"A=站", "UTF-8"},
		"cp950":                         {"A=\xAF\xB8", "cp950"},
		"cp950 comment only":            {";\xB3\x5C\xA5\x5C\r\nA=1", "cp950"},
		"UTF-8 with one bad byte":       {"A=中文站台\xE7\r\nB=1", "UTF-8"},
		"UTF-8 cut inside a character":  {"A=中文站台站\xE7\xAB", "UTF-8"},
		"UTF-8 BOM with bad byte":       {"\xEF\xBB\xBFA=\xB3", "UTF-8 with BOM"},
		"user-defined cp950 characters": {"A=\xFA\x40\xFA\x41", "cp950"},
		"text with NULs is not UTF-16":  {"A=1\r\nB=2" + "\x00\x00\x00\x00", "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			d, bad := decode([]byte(c.raw))
			require.Empty(t, bad)
			require.Equal(t, c.encoding, d.encoding)
		})
	}
}

func TestDecode_WarnsWhereTwoEncodingsFit(t *testing.T) {
	l := read(t, "KMSN=1\r\nSTATION=\xC4\xB3\r\n") // ĳ in UTF-8, 議 in cp950
	require.Equal(t, "ĳ", l.Config.Station)
	requireWarning(t, l, 2, "valid UTF-8 and valid cp950")
	requireQuiet(t, read(t, "KMSN=站\r\nSTATION=\xC4\xB3\r\n"))
	requireQuiet(t, read(t, "\xEF\xBB\xBFSTATION=\xC4\xB3\r\n"))
}
