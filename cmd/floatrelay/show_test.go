package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/reason"
)

func TestShow_Golden(t *testing.T) {
	for name, tc := range map[string]struct {
		site *site
		args []string
	}{
		"members":        {station(), []string{"members"}},
		"members_json":   {station(), []string{"members", "--json"}},
		"members_alone":  {alone(), []string{"members"}},
		"leader":         {station(), []string{"leader"}},
		"leader_json":    {station(), []string{"leader", "--json"}},
		"status_client":  {station(), []string{"status"}},
		"status_leading": {leading(), []string{"status"}},
		"status_alone":   {alone(), []string{"status"}},
		"status_json":    {leading(), []string{"status", "--json"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := cli(t, append(tc.args, "--api", serving(t, tc.site))...)
			require.Equal(t, exitOK, got.code, got.err)
			require.Empty(t, got.err)
			golden(t, name+".txt", got.out)
		})
	}
}

func TestStatus_LeadersClock(t *testing.T) {
	for ms, want := range map[int64]string{
		0: "agrees with that of 餐廳-02\n", -4_900: "agrees with that of 餐廳-02\n",
		-40 * 60_000: "餐廳-02 (leading) is 40 min behind this PC, or in another time zone\n",
		40 * 60_000:  "餐廳-02 (leading) is 40 min ahead of this PC, or in another time zone\n",
		6_000:        "餐廳-02 (leading) is 6.0 s ahead of this PC, or in another time zone\n",
	} {
		s := station()
		s.status.Clock = &localapi.ClockStatus{Station: "餐廳-02", SkewMS: ms}
		require.Contains(t, cli(t, "status", "--api", serving(t, s)).out, "Clock    "+want)
	}
	require.NotContains(t, cli(t, "status", "--api", serving(t, station())).out, "Clock")
}

// The shape is what scripts parse: what comes out is what the daemon said,
// the leader first.
func TestMembers_JSONIsTheDaemonsTable(t *testing.T) {
	got := cli(t, "members", "--json", "--api", serving(t, station()))
	var m localapi.Members
	require.NoError(t, json.Unmarshal([]byte(got.out), &m))
	require.Equal(t, m.Leader, m.Members[0].ID)
	require.ElementsMatch(t, station().members.Members, m.Members)
	require.Equal(t, 1, strings.Count(got.out, "\n"), "one line")
}

func TestMembers_ColumnsLineUpWithWideNames(t *testing.T) {
	got := cli(t, "members", "--api", serving(t, station()))
	rows := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	column := displayWidth(rows[0][:strings.Index(rows[0], "ADDRESS")])
	for _, row := range rows[1:] {
		cells := 0
		for i, r := range row {
			if cells == column {
				require.NotEqual(t, byte(' '), row[i], row)
				require.Equal(t, byte(' '), row[i-1], row)
				break
			}
			cells += runeWidth(r)
		}
		require.Equal(t, column, cells, row)
	}
}

func TestShow_TextOfOthersCannotSteerTheConsole(t *testing.T) {
	got := cli(t, "members", "--api", serving(t, station()))
	require.Contains(t, got.out, "EVIL?[2J?")
	require.NotContains(t, got.out, "\x1b")
	require.NotContains(t, got.out, "\u202e")
	require.NotContains(t, got.out, "\x00")
}

func TestLeader_NobodyIsExit1(t *testing.T) {
	for _, flag := range []string{"--json=false", "--json"} {
		got := cli(t, "leader", flag, "--api", serving(t, alone()))
		require.Equal(t, exitNo, got.code)
		require.Empty(t, got.out)
		require.Equal(t, "floatrelay: nobody leads at present\n", got.err)
	}
}

func TestLeader_StartingIsToldBesideTheAddress(t *testing.T) {
	s := station()
	s.leader.Ready = false
	got := cli(t, "leader", "--api", serving(t, s))
	require.Equal(t, exitOK, got.code)
	require.Equal(t, "192.168.1.10:9530\n", got.out)
	require.Equal(t, "floatrelay: the relay of 餐廳-02 is starting\n", got.err)
}

func TestLeader_Fallback(t *testing.T) {
	for name, tc := range map[string]struct {
		lines []string
		api   func(t *testing.T) string
		code  int
		out   string
	}{
		"somebody leads": {[]string{"RELAY_HOST=10.0.0.5"}, func(t *testing.T) string { return serving(t, station()) }, exitOK, "192.168.1.10:9530\n"},
		"nobody leads":   {[]string{"RELAY_HOST=10.0.0.5"}, func(t *testing.T) string { return serving(t, alone()) }, exitOK, "10.0.0.5:9530\n"},
		"with port":      {[]string{"RELAY_HOST=relay.example:19530"}, func(t *testing.T) string { return serving(t, alone()) }, exitOK, "relay.example:19530\n"},
		"no daemon":      {[]string{"RELAY_HOST=10.0.0.5", "RELAY_PORT=9600"}, unusedAddr, exitOK, "10.0.0.5:9600\n"},
		"not set":        {nil, func(t *testing.T) string { return serving(t, alone()) }, exitNo, ""},
		"neither":        {nil, unusedAddr, exitNoDaemon, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := cli(t, "leader", "--fallback", "--config", ini(t, tc.lines...), "--api", tc.api(t))
			require.Equal(t, tc.code, got.code, got.err)
			require.Equal(t, tc.out, got.out)
		})
	}
}

func TestWatch_PrintsUntilInterrupted(t *testing.T) {
	at := time.Date(2026, 1, 15, 12, 30, 5, 0, time.FixedZone("", 8*3600))
	for flag, want := range map[string]string{
		"--json=false": "2026-01-15 12:30:05 ! role    餐廳-02: leader of epoch 43?\n",
		"--json": `{"time":"2026-01-15T12:30:05+08:00","kind":"role","text":"leader of epoch 43\n","warn":true,` +
			`"station":"餐廳-02","epoch":43}` + "\n",
	} {
		s := station()
		ctx, cancel := context.WithCancel(t.Context())
		out := &lineCounter{want: 2, first: func() {
			s.hub.Publish(localapi.Event{Time: at, Kind: "role", Text: "leader of epoch 43\n", Warn: true, Station: "餐廳-02", Epoch: 43})
		}, last: cancel}
		code := Main(ctx, []string{"watch", flag, "--api", serving(t, s)}, nil, out, out, nil)
		require.Equal(t, exitOK, code)
		require.True(t, strings.HasSuffix(out.text.String(), want), out.text.String())
	}
}

// lineCounter calls first after the first line and last after want lines.
type lineCounter struct {
	text        strings.Builder
	lines, want int
	first, last func()
}

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines++
	if c.lines == 1 {
		c.first()
	}
	if c.lines == c.want {
		c.last()
	}
	return c.text.Write(p)
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestShow_OutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	var errs strings.Builder
	code := Main(t.Context(), []string{"members", "--api", serving(t, station())}, nil, brokenPipe{}, &errs, nil)
	require.Equal(t, exitNo, code)
	require.Equal(t, "floatrelay: write the output: broken pipe\n", errs.String())
}

// A relay that fails again and again is no relay that somebody could wait for.
func TestLeader_FailingIsExit1(t *testing.T) {
	s := station()
	s.leader.Ready = false
	for i, m := range s.members.Members {
		if m.ID == s.members.Leader {
			s.members.Members[i].Reasons = []reason.Reason{{Code: reason.RelayFailing, Count: 9, Detail: "exit code 0"}}
		}
	}
	const want = "餐廳-02: the relay failed 9 times in a row (exit code 0)"
	for _, flag := range []string{"--json=false", "--json"} {
		got := cli(t, "leader", flag, "--api", serving(t, s))
		require.Equal(t, result{exitNo, "", "floatrelay: " + want + "\n"}, got)
	}
	got := cli(t, "leader", "--fallback", "--config", ini(t, "RELAY_HOST=10.0.0.5"), "--api", serving(t, s))
	require.Equal(t, exitOK, got.code)
	require.Equal(t, "10.0.0.5:9530\n", got.out)
	require.Contains(t, got.err, want)
	s.leader.Ready = true
	require.Equal(t, exitOK, cli(t, "leader", "--api", serving(t, s)).code, "it serves again")
}
