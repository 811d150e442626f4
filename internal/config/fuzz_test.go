package config

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzConfig feeds any bytes as stk.ini. Whatever they are: no crash, the same
// answer twice, an error or a configuration that satisfies every relation, and
// no secret in anything people see.
func FuzzConfig(f *testing.F) {
	for _, c := range rowsD {
		f.Add([]byte(c.raw))
		f.Add([]byte("KMSN=1\r\nSTATION=A\r\nRELAY_TOKEN=0123456789abcdef\r\n" + c.raw))
	}
	var b bytes.Buffer
	require.NoError(f, WriteTemplate(&b))
	f.Add(b.Bytes())
	f.Add([]byte("\xFF\xFE" + utf16Bytes("[RELAY]\r\nKMSN=站\r\nSTATION=功\r\nRELAY_TOKEN=abc\r\n", false)))
	f.Fuzz(func(t *testing.T, data []byte) {
		env := envOf("KMSN=1", "STATION=A", "STATE_DIR=/s")
		l, err := Parse("/etc/stk.ini", data, env)
		again, err2 := Parse("/etc/stk.ini", data, env)
		require.True(t, reflect.DeepEqual(l, again) && reflect.DeepEqual(err, err2), "two answers: %v %v", err, err2)
		require.NotNil(t, l)
		if err != nil {
			require.Zero(t, l.Config)
			var p Problems
			require.ErrorAs(t, err, &p)
			for _, e := range p {
				require.NotContains(t, e.Error(), "\n")
			}
		} else {
			requireSane(t, l.Config)
		}
		WriteCheck(io.Discard, l, err)
		lines := bytes.Count(data, []byte("\r")) + bytes.Count(data, []byte("\n")) + 1
		for _, w := range l.Warnings {
			require.GreaterOrEqual(t, w.Line, 0)
			require.LessOrEqual(t, w.Line, lines)
			if tok := string(l.Config.Token); len(tok) > 60 {
				require.NotContains(t, w.Text, tok)
			}
		}
	})
}

func requireSane(t *testing.T, c Config) {
	require.NotEmpty(t, c.KMSN)
	require.NotEmpty(t, c.Token)
	require.NotContains(t, string(c.Token), "\x00")
	require.False(t, strings.ContainsAny(c.LeaseDir+c.RelayExe+c.StateDir, "\x00\r\n"))
	require.True(t, c.LeaseTTL >= 3*time.Second && c.LeaseTTL <= 20*time.Second)
	require.True(t, c.LeaseRenew > 0 && c.LeaseRenew <= c.LeaseTTL/3)
	require.True(t, c.LeaseFence >= 300*time.Millisecond && c.LeaseFence <= c.LeaseTTL/3)
	require.True(t, c.LeaseBeat > 0 && 5*c.LeaseBeat <= c.LeaseFence)
	require.True(t, c.RelayPort > 0 && c.RelayPort < 65535)
}
