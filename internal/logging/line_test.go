package logging

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "\n",
		"text\r\n":               "text\n",
		"two\nlines\n":           `two\nlines` + "\n",
		"tab\tstays":             "tab\tstays\n",
		"\x1b[2Jbell\a\x00":      "?[2Jbell??\n",
		"cp950 \xA5\x5C":         "cp950 \uFFFD\\\n",
		"站一":                     "站一\n",
		strings.Repeat("x", 1e6): strings.Repeat("x", maxLine) + "…\n",
	} {
		require.Equal(t, want, string(cleanLine([]byte(in))))
	}
}

func TestCleanLine_CutsBetweenCharacters(t *testing.T) {
	for shift := range 4 {
		got := string(cleanLine([]byte(strings.Repeat("x", shift) + strings.Repeat("站", maxLine))))
		require.NotContains(t, got, "\uFFFD")
		require.True(t, strings.HasSuffix(got, "站…\n"))
	}
}

func TestCleanLine_IsAlwaysOneValidBoundedLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(rapid.Byte(), 0, 2*maxLine).Draw(t, "in")
		got := cleanLine(in)
		require.True(t, utf8.Valid(got))
		require.Equal(t, 1, strings.Count(string(got), "\n"))
		require.LessOrEqual(t, len(got), 3*maxLine+len("…\n"))
	})
}
