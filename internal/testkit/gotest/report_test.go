package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fed returns what a report prints of events, and how it ended.
func fed(t *testing.T, verbose bool, events ...event) (string, error) {
	t.Helper()
	var in, out strings.Builder
	for _, e := range events {
		b, err := json.Marshal(e)
		require.NoError(t, err)
		in.Write(append(b, '\n'))
	}
	r := newReport(&out, verbose)
	follow(r, strings.NewReader(in.String()), nil)
	err := r.close()
	return out.String(), err
}

func ran(test, action string, output ...string) []event {
	es := []event{{Action: "run", Package: module + "p", Test: test}}
	for _, o := range output {
		es = append(es, event{Action: "output", Package: module + "p", Test: test, Output: o})
	}
	return append(es, event{Action: action, Package: module + "p", Test: test})
}

func TestReport_PrintsOnlyWhatFailed(t *testing.T) {
	es := append(ran("TestGood", "pass", "quiet\n"), ran("TestBad", "fail", "loud\n")...)
	es = append(es, event{Action: "output", Package: module + "p", Output: "FAIL\tp\t0.1s\n"})
	out, err := fed(t, false, es...)
	require.NoError(t, err, "the exit code of go test tells of failures")
	require.NotContains(t, out, "quiet")
	require.Equal(t, "loud\nFAIL\tp\t0.1s\n1 passed, 1 failed, 0 skipped\n", out)
}

func TestReport_VerbosePrintsAll(t *testing.T) {
	out, err := fed(t, true, ran("TestGood", "pass", "quiet\n")...)
	require.NoError(t, err)
	require.Equal(t, "quiet\n1 passed, 0 failed, 0 skipped\n", out)
}

func TestReport_FailsWhenNothingRan(t *testing.T) {
	_, err := fed(t, false, event{Action: "output", Package: module + "p", Output: "ok  \tp\t0.1s [no tests to run]\n"})
	require.ErrorContains(t, err, "no test ran")
}

func TestReport_RepeatsWhatWasNotShown(t *testing.T) {
	es := append(ran("TestGood", "pass", "    x_test.go:3: NOT SHOWN: a console\n"), ran("TestLeft", "skip", "no\n")...)
	out, err := fed(t, false, es...)
	require.NoError(t, err)
	require.Contains(t, out, "NOT SHOWN: a console\nNOT SHOWN: p TestLeft was skipped\n1 passed, 0 failed, 1 skipped\n")
}

// A binary that is killed ends no test: what it wrote is all that there is.
func TestReport_PrintsWhatNeverEnded(t *testing.T) {
	out, err := fed(t, false, append(ran("TestGood", "pass"), ran("TestHung", "output", "last words\n")...)...)
	require.NoError(t, err)
	require.Contains(t, out, "last words\n")
}

func TestReport_NamesWhatRunsLong(t *testing.T) {
	var out strings.Builder
	r := newReport(&out, false)
	began := time.Now()
	r.add(event{Action: "run", Package: module + "internal/sitetest", Test: "TestLong", Time: began})
	r.add(event{Action: "run", Package: module + "internal/sitetest", Test: "TestLater", Time: began.Add(time.Second)})
	r.add(event{Action: "run", Package: module + "internal/sitetest", Test: "TestWaits", Time: began})
	r.add(event{Action: "pause", Package: module + "internal/sitetest", Test: "TestWaits", Time: began})
	r.tick(began)
	require.Empty(t, out.String())
	r.tick(began.Add(silence + time.Second))
	require.Equal(t, "... 0 tests have passed; running: internal/sitetest TestLong (21 s) internal/sitetest TestLater (20 s)\n", out.String())
}

// What go test prints that is no event, such as of a build that failed, is shown.
func TestReport_PrintsBuildFailures(t *testing.T) {
	out, err := fed(t, false, event{Action: "build-output", Output: "x.go:1: undefined: y\n"})
	require.Error(t, err)
	require.Contains(t, out, "undefined: y")
}
