package main

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/history"
	"github.com/convertfw/floatrelay/internal/localapi"
)

// remembering is a site whose daemon keeps a history.
type remembering struct {
	*site
	past []localapi.Past
}

func (r remembering) History() []localapi.Past { return r.past }

func somePast() []localapi.Past {
	at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.Local)
	return []localapi.Past{
		{Event: localapi.Event{Time: at, Kind: "lease", Text: "POS-02 has the lease, epoch 8; POS-01 had it"}, Reason: "fence", LastedMS: 92_000},
		{Event: localapi.Event{Time: at.Add(time.Second), Kind: "note", Text: "bad\x1b[31m", Warn: true}},
	}
}

func TestHistory(t *testing.T) {
	src := remembering{station(), somePast()}
	file := ini(t, "API_ADDR="+serving(t, src))
	want := "2026-01-15 12:00:00   lease  POS-02 has the lease, epoch 8; POS-01 had it (fence), after 1 min\n" +
		"2026-01-15 12:00:01 ! note   " + clean("bad\x1b[31m") + "\n"
	require.Equal(t, result{exitOK, want, ""}, cli(t, "history", "--config", file))
	t.Run("the newest only", func(t *testing.T) {
		got := cli(t, "history", "--last", "1", "--config", file)
		require.NotContains(t, got.out, "POS-02")
		require.Contains(t, got.out, "note")
		require.Equal(t, exitUsage, cli(t, "history", "--last", "-1", "--config", file).code)
	})
	t.Run("as JSON", func(t *testing.T) {
		var h localapi.History
		require.NoError(t, json.Unmarshal([]byte(cli(t, "history", "--json", "--config", file).out), &h))
		require.Len(t, h.Events, 2)
		require.Equal(t, "fence", h.Events[0].Reason)
		require.EqualValues(t, 92_000, h.Events[0].LastedMS)
	})
}

func TestHistory_WithoutADaemonReadsTheFile(t *testing.T) {
	file := ini(t, "API_ADDR="+unusedAddr(t))
	l, err := history.Open(filepath.Dir(file)) // STATE_DIR of ini
	require.NoError(t, err)
	for _, p := range somePast() {
		l.Add(p)
	}
	require.NoError(t, l.Flush())
	got := cli(t, "history", "--config", file)
	require.Equal(t, exitOK, got.code)
	require.Contains(t, got.out, "POS-02 has the lease")
	require.Contains(t, got.err, "no daemon answers")
	require.Equal(t, exitNoDaemon, cli(t, "history", "--config", file, "--api", unusedAddr(t)).code, "another PC's file is not ours to guess")
}

func TestHistory_ThatNobodyEverWrote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "never")
	for _, flag := range []string{"--json=false", "--json"} {
		got := cli(t, "history", flag, "--config", ini(t, "API_ADDR="+unusedAddr(t), "STATE_DIR="+dir))
		require.Equal(t, result{exitNo, "", "floatrelay: there is no history yet: no daemon has written one to " + dir + "\n"}, got)
	}
}

func TestHistory_OfADaemonThatKeepsNone(t *testing.T) {
	got := cli(t, "history", "--config", ini(t, "API_ADDR="+serving(t, station())))
	require.Equal(t, exitNo, got.code)
	require.Contains(t, got.err, "keeps no history")
}
