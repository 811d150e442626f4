package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

const (
	testKMSN  = "4711"
	testToken = "ruqpbha7q2ubtb57ue4bo24pin3sq7n6"
)

// look runs one check and returns its findings.
func look(t *testing.T, run func(context.Context, Tell)) []Result {
	t.Helper()
	return Run(t.Context(), []Check{{Name: "x", Run: run, Hung: "hung"}}, Limit).Results
}

// one demands a single finding of a level whose text and advice contain these.
func one(t *testing.T, got []Result, level Level, text, do string) {
	t.Helper()
	require.Len(t, got, 1, got)
	require.Equal(t, level, got[0].Level, got)
	require.Contains(t, got[0].Text, text)
	require.Contains(t, got[0].Do, do)
}

// soon is one for a check that asks another PC. One on a busy machine may be too
// late with an answer, but not every time.
func soon(t *testing.T, check func() []Result, level Level, text, do string) {
	t.Helper()
	for range 9 {
		got := check()
		if len(got) == 1 && got[0].Level == level && strings.Contains(got[0].Text, text) && strings.Contains(got[0].Do, do) {
			return
		}
	}
	one(t, check(), level, text, do)
}

// load reads a stk.ini with these lines besides the required ones.
func load(t *testing.T, lines ...string) Input {
	t.Helper()
	dir := t.TempDir()
	in := Input{Path: filepath.Join(dir, "stk.ini")}
	text := "[RELAY]\nKMSN=" + testKMSN + "\nSTATION=POS-01\nRELAY_TOKEN=" + testToken +
		"\nLEASE_DIR=" + dir + "\nSTATE_DIR=" + dir + "\n" + strings.Join(lines, "\n") + "\n"
	require.NoError(t, os.WriteFile(in.Path, []byte(text), 0o600))
	in.Loaded, in.LoadErr = config.Load(in.Path, nil)
	in.OpenShare = opener(lease.NewDir(dir))
	return in
}

func opener(s lease.Share) func() (lease.Share, error) {
	return func() (lease.Share, error) { return s, nil }
}

// figures are settings as the checks of the share use them.
func figures(dir string) config.Config {
	return config.Config{KMSN: testKMSN, Token: testToken, LeaseDir: dir, LeaseFence: 1500 * time.Millisecond}
}

func noDaemon(context.Context) (localapi.Status, error) {
	return localapi.Status{}, localapi.ErrNoDaemon
}

func answers(s localapi.Status) ask {
	return func(context.Context) (localapi.Status, error) { return s, nil }
}
