package config

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// cp950Runes is the table turned round, for writing test files.
var cp950Runes = func() map[rune]string {
	m := map[rune]string{}
	for lead := 0x81; lead <= 0xFE; lead++ {
		for trail := 0x40; trail <= 0xFE; trail++ {
			if r, kind := cp950Pair(byte(lead), byte(trail)); kind != pairBad {
				m[r] = string([]byte{byte(lead), byte(trail)})
			}
		}
	}
	return m
}()

var cp950List = func() (all []rune) {
	for lead := 0x81; lead <= 0xFE; lead++ {
		for trail := 0x40; trail <= 0xFE; trail++ {
			if r, kind := cp950Pair(byte(lead), byte(trail)); kind != pairBad {
				all = append(all, r)
			}
		}
	}
	return all
}()

// encodings writes a text as each encoding; cp950 only what it can hold. The
// comment in front makes the choice between UTF-8 and cp950 certain.
var encodings = map[string]func(string) string{
	"UTF-8":     func(s string) string { return s },
	"UTF-8 BOM": func(s string) string { return "\xEF\xBB\xBF" + s },
	"UTF-16 LE": func(s string) string { return "\xFF\xFE" + utf16Bytes(s, false) },
	"UTF-16 BE": func(s string) string { return "\xFE\xFF" + utf16Bytes(s, true) },
	"cp950": func(s string) string {
		var b strings.Builder
		b.WriteString(";\xB3\x5C\xA5\x5C\xBB\x5C\r\n")
		for _, r := range s {
			if r < 0x80 {
				b.WriteRune(r)
			} else {
				b.WriteString(cp950Runes[r])
			}
		}
		return b.String()
	},
}

// meaning lists what some ini reader treats specially.
var meaning = []rune("\\\"'`#;=:%$[]{}()<>!&|^~@/*?,. \t-_+")

// literal draws a value as somebody may write it: everything but control
// characters, and no blanks around it (those are trimmed, as every ini reader
// does).
func literal(chinese bool) *rapid.Generator[string] {
	letter := rapid.OneOf(rapid.SampledFrom(meaning), rapid.RuneFrom([]rune("abcXYZ019")), rapid.SampledFrom(cp950List))
	if !chinese {
		letter = rapid.OneOf(letter, rapid.Rune().Filter(func(r rune) bool {
			return !unicode.IsControl(r) && r != unicode.ReplacementChar && r != '\uFEFF'
		}))
	}
	return rapid.Custom(func(t *rapid.T) string {
		s := string(rapid.SliceOfN(letter, 1, 40).Draw(t, "letters"))
		return strings.ReplaceAll(strings.Trim(s, " \t"), "\t", " ")
	}).Filter(func(s string) bool { return s != "" && len(s) <= maxSecret })
}

func TestLoad_EveryLiteralValueReadsBack(t *testing.T) {
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				token := literal(name == "cp950").Draw(t, "token")
				old := literal(name == "cp950").Draw(t, "old")
				eol := rapid.SampledFrom([]string{"\r\n", "\n", "\r"}).Draw(t, "eol")
				head := rapid.SampledFrom([]string{"", "[RELAY]", "[ relay ]", "[POS.1]"}).Draw(t, "section")
				lines := []string{head, "RELAY_TOKEN=" + token, " relay_token_old \t= " + old + " ", "KMSN=1", "STATION=A", "STATE_DIR=/s"}
				tail := rapid.SampledFrom([]string{"", eol, eol + "\x1A", eol + "\x00\x00"}).Draw(t, "tail")
				l, err := Parse("/etc/stk.ini", []byte(encode(strings.Join(lines, eol)+tail)), envOf())
				require.NoError(t, err)
				require.Equal(t, token, string(l.Config.Token))
				require.Equal(t, old, string(l.Config.OldToken))
				require.Equal(t, "A", l.Config.Station)
			})
		})
	}
}

// Each character of cp950 alone, between and at the end of values.
func TestLoad_EveryCP950Character(t *testing.T) {
	for i := 0; i < len(cp950List); i += 7 {
		var lines []string
		for j, r := range cp950List[i:min(i+7, len(cp950List))] {
			key := []string{"STATION", "KMSN", "RELAY_TOKEN", "RELAY_TOKEN_OLD", "LEASE_DIR", "STATE_DIR", "LEASE_SMB_PASSWORD"}[j]
			prefix := map[bool]string{true: "/"}[strings.HasSuffix(key, "DIR")]
			lines = append(lines, key+"="+prefix+string(r))
		}
		l := read(t, encodings["cp950"](strings.Join(lines, "\r\n")))
		c := l.Config
		got := []string{c.Station, c.KMSN, string(c.Token), string(c.OldToken), strings.TrimPrefix(c.LeaseDir, "/"), strings.TrimPrefix(c.StateDir, "/"), string(c.SMBPassword)}
		for j, r := range cp950List[i:min(i+7, len(cp950List))] {
			require.Equal(t, string(r), got[j], "%X", cp950Runes[r])
		}
	}
}

func TestSplitArgs_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune(`ab\" '	功`)))).Draw(t, "args")
		quoted := make([]string, len(want))
		for i, a := range want {
			quoted[i] = `"` + strings.ReplaceAll(a, `"`, `""`) + `"`
		}
		got, err := SplitArgs(strings.Join(quoted, "  "))
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i])
		}
	})
}
