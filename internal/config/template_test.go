package config

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/ini.v1"
)

func template(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteTemplate(&b))
	return b.String()
}

func TestWriteTemplate_Form(t *testing.T) {
	text := template(t)
	require.NotRegexp(t, `[^\x20-\x7E\r\n]`, text, "plain ASCII")
	require.Equal(t, strings.Count(text, "\n"), strings.Count(text, "\r\n"), "CR LF everywhere")
	require.NotContains(t, text, "\r\r")
	require.Contains(t, text, "Set RELAY_EXE too wherever the relay may run")
	for line := range strings.Lines(text) {
		require.LessOrEqual(t, len(line), 80)
		require.Regexp(t, `^(\r\n|; .*|;?[A-Z_]+=.*|\[RELAY\]\r\n)`, line)
	}
	for _, k := range Keys() {
		require.Regexp(t, `(?m)^;?`+k.Name+`=`+regexp.QuoteMeta(k.Default)+`\r$`, text)
		require.Contains(t, strings.Join(strings.Fields(strings.ReplaceAll(text, "\r\n;", "")), " "), k.Allowed, k.Name)
	}
}

func TestWriteTemplate_SaysWhatIsMissing(t *testing.T) {
	_, err := Parse("/etc/stk.ini", []byte(template(t)), envOf())
	var p Problems
	require.ErrorAs(t, err, &p)
	require.Len(t, p, 3)
	require.ErrorContains(t, p, "KMSN is missing")
}

func TestWriteTemplate_ReadsBackAsTheDefaults(t *testing.T) {
	filled := strings.NewReplacer("\nKMSN=", "\nKMSN=4711", "\nSTATION=", "\nSTATION=A", "\nRELAY_TOKEN=", "\nRELAY_TOKEN=7f3ak29xqd04mz8w").Replace(template(t))
	plain, err := Parse("/etc/stk.ini", []byte(filled), envOf())
	require.NoError(t, err)
	open, err := Parse("/etc/stk.ini", []byte(regexp.MustCompile(`(?m)^;([A-Z_]+=)`).ReplaceAllString(filled, "$1")), envOf())
	require.NoError(t, err)
	require.Equal(t, plain.Config, open.Config, "what the template shows is what holds")
	requireQuiet(t, open)
	other, err := ini.Load([]byte(filled))
	require.NoError(t, err, "other readers understand it too")
	require.Equal(t, "4711", other.Section("RELAY").Key("KMSN").String())
}
