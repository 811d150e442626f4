package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
)

const (
	shareA = "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d"
	shareB = "7f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d"
)

// member is one that is reached well.
func member(n int) localapi.Surveyed {
	return localapi.Surveyed{
		ID: fmt.Sprintf("n%d/r%d", n, n), Station: fmt.Sprintf("POS-%02d", n), Addr: fmt.Sprintf("192.168.1.%d:7946", 10+n),
		State: "alive", Share: shareA, Version: "v2", Asked: true, Answered: true,
		UDPOut: true, UDPBack: true, TCPOut: true, TCPBack: true, RTT: 0.4, Zone: "CST", ZoneSec: 8 * 3600,
	}
}

// surveyOf is seen from POS-01.
func surveyOf(ms ...localapi.Surveyed) localapi.Survey {
	return localapi.Survey{Self: "n1/r1", KMSN: testKMSN, Station: "POS-01", Share: shareA, Version: "v2", Members: ms}
}

func found(s localapi.Survey) poll {
	return func(context.Context) (localapi.Survey, error) { return s, nil }
}

func noOutside(context.Context, Tell) {}

func lookSurvey(t *testing.T, s localapi.Survey) []Result {
	return look(t, membersCheck(config.Config{GossipPort: 7946}, found(s), noOutside))
}

func TestMembers_AllWell(t *testing.T) {
	one(t, lookSurvey(t, surveyOf(member(2), member(3))), OK, "reached by UDP and TCP, both ways: POS-02, POS-03", "")
	one(t, lookSurvey(t, surveyOf()), OK, "no other PC is known yet", "")
}

func TestMembers_WhichWayIsBlocked(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*localapi.Surveyed)
		level Level
		text  string
	}{
		"udp":         {func(m *localapi.Surveyed) { m.UDPOut, m.UDPBack = false, false }, Failure, "UDP does not pass between this PC and POS-02 (192.168.1.12:7946), TCP does"},
		"udp out":     {func(m *localapi.Surveyed) { m.UDPOut = false }, Failure, "UDP packets of this PC do not reach POS-02 (192.168.1.12:7946)"},
		"udp back":    {func(m *localapi.Surveyed) { m.UDPBack = false }, Failure, "UDP packets of POS-02 (192.168.1.12:7946) do not reach this PC"},
		"tcp":         {func(m *localapi.Surveyed) { m.TCPOut, m.TCPBack = false, false }, Failure, "TCP does not pass between this PC and POS-02 (192.168.1.12:7946), UDP does"},
		"tcp out":     {func(m *localapi.Surveyed) { m.TCPOut = false }, Failure, "TCP connections of this PC do not reach POS-02 (192.168.1.12:7946)"},
		"tcp back":    {func(m *localapi.Surveyed) { m.TCPBack = false }, Failure, "TCP connections of POS-02 (192.168.1.12:7946) do not reach this PC"},
		"nothing":     {func(m *localapi.Surveyed) { m.Answered = false }, Failure, "POS-02 (192.168.1.12:7946) and this PC do not reach each other, neither by UDP nor by TCP"},
		"another age": {func(m *localapi.Surveyed) { m.Answered, m.Version = false, "v1" }, Warning, "POS-02 (192.168.1.12:7946) did not answer this check; floatrelay there is of another version"},
		"no time":     {func(m *localapi.Surveyed) { m.Asked, m.Answered = false, false }, Warning, "no time to ask POS-02"},
	} {
		t.Run(name, func(t *testing.T) {
			m := member(2)
			tc.spoil(&m)
			one(t, lookSurvey(t, surveyOf(m)), tc.level, tc.text, map[Level]string{Failure: "allow port 7946 in the firewalls"}[tc.level])
		})
	}
}

func TestMembers_OneCauseOnManyPCsIsOneLine(t *testing.T) {
	var all []localapi.Surveyed
	for n := 2; n < 13; n++ {
		m := member(n)
		m.UDPOut, m.UDPBack = false, false
		all = append(all, m)
	}
	one(t, lookSurvey(t, surveyOf(all...)), Failure, "POS-09 (192.168.1.19:7946) and 3 more, TCP does", "firewall")
}

func TestMembers_DuplicateStationsAndNodes(t *testing.T) {
	twin := member(2)
	twin.Station = "pos-01"
	got := lookSurvey(t, surveyOf(twin))
	one(t, got[:1], Failure, "more than one PC has STATION=POS-01: POS-01 (this PC), pos-01 (192.168.1.12:7946)", "STATION of its own")

	copied := member(2)
	copied.ID = "n1/r9"
	got = lookSurvey(t, surveyOf(copied))
	one(t, got[:1], Failure, "same node id: POS-01 (this PC), POS-02 (192.168.1.12:7946)", "delete the file 'node'")

	off := twin
	off.State, off.Addr = "dead", "not an address"
	require.Empty(t, lookSurvey(t, surveyOf(off)), "a PC that is off may have been renamed")
}

func TestMembers_AnotherShare(t *testing.T) {
	m, none := member(2), member(3)
	m.Share, none.Share = shareB, ""
	got := lookSurvey(t, surveyOf(m, none))
	one(t, got[:1], Failure, "another folder than on this PC, or an offline copy of it, is used by POS-02 (192.168.1.12:7946)", "compare LEASE_DIR")
	one(t, got[1:2], Warning, "no chain is seen by POS-03", "doctor")
}

func TestMembers_Strangers(t *testing.T) {
	s := surveyOf(member(2))
	s.Strangers = []localapi.Stranger{{Addr: "192.168.1.66", Code: localapi.TokenDiffers}, {Addr: "192.168.9.9", Code: localapi.OtherSite}}
	got := lookSurvey(t, s)
	one(t, got[:1], Failure, "the PC at 192.168.1.66 uses another RELAY_TOKEN", "fingerprint")
	require.Contains(t, got[0].Do, "the right one into stk.ini there")
	s.Members[0].State = localapi.StateDead
	require.Contains(t, lookSurvey(t, s)[0].Do, "that is probably its own", "whoever is alone is the one who is wrong")
	one(t, got[1:2], Warning, "192.168.9.9 belongs to another site", "KMSN")
}

func TestMembers_ADaemonThatCannotBeAsked(t *testing.T) {
	fails := func(err error) []Result {
		return look(t, membersCheck(config.Config{}, func(context.Context) (localapi.Survey, error) { return localapi.Survey{}, err }, noOutside))
	}
	one(t, fails(&localapi.RefusedError{Code: http.StatusNotFound}), Warning, "older", "restart")
	one(t, fails(&localapi.RefusedError{Code: http.StatusUnauthorized}), Warning, "RELAY_TOKEN or KMSN", "restart")
	one(t, fails(errors.New("busy")), Warning, "busy", "repeat")
	one(t, fails(localapi.ErrNoDaemon), Warning, "not checked without a running daemon", "start the daemon")
}

func TestSurveyOnce(t *testing.T) {
	n := 0
	once := surveyOnce(func(context.Context) (localapi.Survey, error) { n++; return surveyOf(), nil })
	for range 3 {
		_, err := once(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, 1, n)
	_, err := surveyOnce(nil)(t.Context())
	require.ErrorIs(t, err, localapi.ErrNoDaemon)
}

func TestClocks(t *testing.T) {
	late := func(n int, ms int64) localapi.Surveyed {
		m := member(n)
		m.SkewMS = ms
		return m
	}
	judge := func(ms ...localapi.Surveyed) []Result {
		return look(t, func(_ context.Context, tell Tell) { judgeClocks(surveyOf(ms...), 8*3600, tell) })
	}
	one(t, judge(late(2, 1500), late(3, -4000)), OK, "2 other PCs agree with this one's (UTC+8)", "")
	one(t, judge(late(2, -2_400_000), late(3, 0)), Warning, "the clock of POS-02 (192.168.1.12:7946) is 40m0s behind that of this PC", "w32tm")
	one(t, judge(late(2, 2_400_000)), Warning, "is 40m0s ahead of that of this PC", "lease_until")
	one(t, judge(late(2, 2_400_000), late(3, 2_401_000)), Warning, "the clock of this PC is 40m0s behind all others", "w32tm")
	require.Len(t, judge(late(2, 2_400_000), late(3, -2_400_000)), 2, "two that differ each in their own way")
	abroad := member(2)
	abroad.Zone, abroad.ZoneSec = "NST", -12600
	one(t, judge(abroad, member(3)), Warning, "this PC has time zone UTC+8, not so (UTC-3:30): POS-02", "time zone")
	silent := late(2, 2_400_000)
	silent.Answered = false
	require.Empty(t, judge(silent))
	slow := late(2, 6000)
	slow.RTT = 4000
	one(t, judge(slow), OK, "1 other PCs agree", "")
}

func TestRace(t *testing.T) {
	judge := func(r localapi.Race) []Result {
		s := surveyOf()
		s.Race = &r
		return look(t, raceCheck(found(s)))
	}
	one(t, judge(localapi.Race{With: "POS-02", Rounds: 16}), OK, "exclusive between this PC and POS-02: one winner in each of 16 races", "")
	one(t, judge(localapi.Race{With: "POS-02", Rounds: 16, Both: 3}), Failure, "this PC and POS-02 both created the same new file, in 3 of 16 rounds", "Offline Files")
	one(t, judge(localapi.Race{With: "POS-02", Error: "it does not race"}), Warning, "no race with POS-02: it does not race", "repeat")
	one(t, judge(localapi.Race{With: "POS-02", Rounds: 16, None: 16}), Warning, "tells nothing", "repeat")
	one(t, judge(localapi.Race{With: "POS-02"}), Warning, "tells nothing", "repeat")
	require.Empty(t, look(t, raceCheck(found(surveyOf()))), "nobody to race")
	require.Empty(t, look(t, raceCheck(surveyOnce(nil))))
}
