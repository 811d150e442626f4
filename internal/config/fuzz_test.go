package config

import (
	"bytes"
	"errors"
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
		if len(data)%8 == 0 { // not always: it halves the speed
			again, err2 := Parse("/etc/stk.ini", data, env)
			require.True(t, reflect.DeepEqual(l, again) && reflect.DeepEqual(err, err2), "two answers: %v %v", err, err2)
		}
		if l == nil {
			t.Fatal("nothing to show")
		}
		if err != nil {
			requireProblems(t, l, err)
		} else {
			requireSane(t, l.Config)
		}
		WriteCheck(io.Discard, l, err)
		requireWarnings(t, l, bytes.Count(data, []byte("\r"))+bytes.Count(data, []byte("\n"))+1)
	})
}

func requireProblems(t *testing.T, l *Loaded, err error) {
	var p Problems
	if !reflect.ValueOf(l.Config).IsZero() || !errors.As(err, &p) {
		t.Fatalf("half a configuration: %+v, %v", l.Config, err)
	}
	for _, e := range p {
		if strings.Contains(e.Error(), "\n") {
			t.Fatalf("not one line: %q", e.Error())
		}
	}
}

func requireWarnings(t *testing.T, l *Loaded, lines int) {
	token := string(l.Config.Token)
	for _, w := range l.Warnings {
		if w.Line < 0 || w.Line > lines {
			t.Fatalf("line %d of %d: %s", w.Line, lines, w.Text)
		}
		if len(token) > 60 && strings.Contains(w.Text, token) {
			t.Fatalf("shows the secret: %s", w.Text)
		}
	}
}

func requireSane(t *testing.T, c Config) {
	sane := c.KMSN != "" && c.Token != "" && !strings.Contains(string(c.Token), "\x00") &&
		!strings.ContainsAny(c.LeaseDir+c.RelayExe+c.StateDir, "\x00\r\n") &&
		c.LeaseTTL >= 3*time.Second && c.LeaseTTL <= 20*time.Second &&
		c.LeaseRenew > 0 && c.LeaseRenew <= c.LeaseTTL/3 &&
		c.LeaseFence >= 300*time.Millisecond && c.LeaseFence <= c.LeaseTTL/3 &&
		c.LeaseBeat > 0 && 5*c.LeaseBeat <= c.LeaseFence &&
		c.RelayPort > 0 && c.RelayPort < 65535
	if !sane {
		t.Fatalf("out of its relations: %+v", c)
	}
}
