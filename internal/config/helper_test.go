package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// required holds what a file needs to be complete.
var required = map[string]string{
	"KMSN": "4711", "STATION": "POS-01", "RELAY_TOKEN": "7f3ak29xqd04mz8w", "STATE_DIR": "/state",
}

// envOf is an environment made of key=value pairs (keys without the prefix).
func envOf(pairs ...string) Env {
	m := map[string]string{"HOME": "/home/u"}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[EnvPrefix+k] = v
	}
	return func(name string) (string, bool) {
		v, ok := m[name]
		return v, ok
	}
}

// complete reads raw and lets the environment supply the required keys that
// it does not set, so that a test can use the bytes of a case as they are.
func complete(raw string) (*Loaded, error) {
	_, err := Parse("/etc/stk.ini", []byte(raw), envOf())
	var problems Problems
	errors.As(err, &problems)
	var pairs []string
	for _, p := range problems {
		if v, ok := required[p.Key]; ok && p.Cause == "is missing" {
			pairs = append(pairs, p.Key+"="+v)
		}
	}
	return Parse("/etc/stk.ini", []byte(raw), envOf(pairs...))
}

func read(t *testing.T, raw string) *Loaded {
	t.Helper()
	l, err := complete(raw)
	require.NoError(t, err)
	return l
}

// refuse reads a file that must not be accepted and returns its problems.
func refuse(t *testing.T, raw string) (*Loaded, Problems) {
	t.Helper()
	l, err := complete(raw)
	var problems Problems
	require.ErrorAs(t, err, &problems)
	require.Zero(t, l.Config, "half a configuration must not be usable")
	return l, problems
}

// warned reports whether a warning of that line contains the text.
func warned(l *Loaded, line int, text string) bool {
	for _, w := range l.Warnings {
		if w.Line == line && strings.Contains(w.Text, text) {
			return true
		}
	}
	return false
}

func requireWarning(t *testing.T, l *Loaded, line int, text string) {
	t.Helper()
	require.True(t, warned(l, line, text), "no warning %q on line %d in %v", text, line, l.Warnings)
}

// requireQuiet fails on any warning about this program; remarks about other
// programs are allowed.
func requireQuiet(t *testing.T, l *Loaded) {
	t.Helper()
	own, _ := split(l.Warnings)
	for _, w := range own {
		if strings.Contains(w.Text, "is short") || strings.Contains(w.Text, "not a path of this system") {
			continue
		}
		t.Errorf("unexpected warning: %s", w)
	}
}

func origin(t *testing.T, l *Loaded, key string) string {
	t.Helper()
	v, ok := l.Get(key)
	require.True(t, ok, key)
	return v.Origin
}
