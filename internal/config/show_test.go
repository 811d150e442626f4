package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFingerprint(t *testing.T) {
	require.Equal(t, "none", Fingerprint("4711", ""))
	require.Len(t, Fingerprint("4711", "abc"), 8)
	require.Equal(t, Fingerprint("4711", "abc"), Fingerprint("4711", "abc"))
	require.NotEqual(t, Fingerprint("4711", "abc"), Fingerprint("4711", "abc "))
	require.NotEqual(t, Fingerprint("4711", "abc"), Fingerprint("4712", "abc"), "a table of one site is of no use at another")
	require.NotEqual(t, Fingerprint("1", "1abc"), Fingerprint("11", "abc"))
}

func TestSecret_NeverPrints(t *testing.T) {
	l := read(t, "RELAY_TOKEN=hunter2hunter2\nRELAY_TOKEN_OLD=hunter2hunter1\nLEASE_SMB_PASSWORD=hunter2\n")
	js, err := json.Marshal(l)
	require.NoError(t, err)
	var table bytes.Buffer
	require.NoError(t, l.Effective(&table))
	WriteCheck(&table, l, nil)
	for _, out := range []string{string(js), table.String(), fmt.Sprintf("%v %+v %#v %s", l.Config, l.Config, l.Config, l.Config.Token)} {
		require.NotContains(t, out, "hunter2")
	}
	require.Contains(t, table.String(), l.Config.TokenPrint())
	require.Contains(t, string(js), l.Config.OldTokenPrint())
	require.NotContains(t, fmt.Sprintf("%v", l.Config), l.Config.TokenPrint(), "a log line is no place to guess from")
	require.Equal(t, "hunter2hunter2", string(l.Config.Token))
}

func TestSecret_NotInErrors(t *testing.T) {
	for _, file := range []string{
		"RELAY_TOKEN=hunter2\x01\n", "RELAY_TOKEN=hunter2" + strings.Repeat("x", 1024) + "\n",
		"RELAY_TOKEN=hunter2\xFF\n", "LEASE_SMB_PASSWORD=hunter2\x02\nRELAY_TOKEN=hunter2\nRELAY_TOKEN=hunter2y\n",
		"LEASE_DIR=smb://u:hunter2@server/share\n", "LEASE_DIR=smb://u:hunter2@server\n", "LEASE_DIR=smb://u:hunter2@[\n",
		"LEASE_DIR=smb://u:hun\"ter2hunter2@server/s\n", "LEASE_DIR=smb://u:hunter2%zz@server/s\n", "LEASE_DIR=smb:/u:hunter2@s/s\n",
	} {
		l, p := refuse(t, file)
		var out bytes.Buffer
		require.NoError(t, l.Effective(&out))
		require.Positive(t, WriteCheck(&out, l, p))
		require.NotContains(t, out.String(), "hunter2", file)
	}
}

func TestEffective(t *testing.T) {
	l := read(t, "[RELAY]\r\nSTATION=功\r\nLEASE_TTL=15 ; seconds\r\n")
	var out bytes.Buffer
	require.NoError(t, l.Effective(&out))
	for _, line := range []string{
		`(?m)^KEY +VALUE +ORIGIN$`, `(?m)^STATION +功 +stk.ini:2$`, `(?m)^LEASE_TTL +15s +stk.ini:3$`, `(?m)^LEASE_FENCE +1.5s +default$`,
		`(?m)^RELAY_TOKEN +\(fingerprint [0-9a-f]{8}\) +environment$`, `(?m)^RELAY_HOST +- +default$`,
	} {
		require.Regexp(t, line, out.String())
	}
	require.Equal(t, len(keys)+1, strings.Count(out.String(), "\n"))
}

func TestWriteCheck(t *testing.T) {
	l, p := refuse(t, "STATION=A\nLEASE_TTL=99\nfoo\nRELAY_ARGS=a\\\n")
	var out bytes.Buffer
	require.Equal(t, 1, WriteCheck(&out, l, p))
	require.Equal(t, `error    /etc/stk.ini:2: LEASE_TTL=99 is out of range; allowed: seconds (1.5) or a duration (250ms), 3s to 20s
warning  /etc/stk.ini:3: neither KEY=value nor [section] nor ;comment; the line is ignored
differs  /etc/stk.ini:4: RELAY_ARGS ends with a backslash; ini.v1 joins the next line to it
`, dropWindowsPathHint(out.String()[:strings.LastIndex(out.String(), "1 error,")]))
	require.Regexp(t, `\n1 error, (1 warning|2 warnings), 1 line that other programs may read differently \(UTF-8\)\n$`, out.String())
	out.Reset()
	require.Equal(t, 1, WriteCheck(&out, nil, errors.New("read stk.ini: gone")))
	require.Equal(t, "error    read stk.ini: gone\n1 error, 0 warnings, 0 lines that other programs may read differently\n", out.String())
}

// dropWindowsPathHint removes the warning that only other systems give about
// the default LEASE_DIR.
func dropWindowsPathHint(s string) string {
	var keep []string
	for line := range strings.Lines(s) {
		if !strings.Contains(line, "not a path of this system") {
			keep = append(keep, line)
		}
	}
	return strings.Join(keep, "")
}

func TestError_IsOneLine(t *testing.T) {
	_, p := refuse(t, "RELAY_EXE='x\u2028y\x1by'\nLOG_LEVEL="+strings.Repeat("z", 500)+"\n")
	require.Len(t, p, 2)
	for _, e := range p {
		require.NotContains(t, e.Error(), "\u2028")
		require.NotContains(t, e.Error(), "\x1b")
		require.Less(t, len(e.Error()), 300)
	}
	var one *Error
	require.ErrorAs(t, error(p), &one)
	require.Equal(t, 1, one.Line)
}
