package config

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLoad_LineEnds(t *testing.T) {
	for name, raw := range map[string]string{
		"CR LF": "KMSN=1\r\nSTATION=A\r\n\r\nRELAY_TOKEN=abc\r\n",
		"LF":    "KMSN=1\nSTATION=A\n\nRELAY_TOKEN=abc\n",
		"CR":    "KMSN=1\rSTATION=A\r\rRELAY_TOKEN=abc\r",
		"mixed": "KMSN=1\rSTATION=A\n\r\nRELAY_TOKEN=abc",
	} {
		t.Run(name, func(t *testing.T) {
			l := read(t, raw)
			require.Equal(t, "1", l.Config.KMSN)
			require.Equal(t, "A", l.Config.Station)
			require.Equal(t, Secret("abc"), l.Config.Token)
			require.Equal(t, "stk.ini:1", origin(t, l, "KMSN"))
			require.Equal(t, "stk.ini:2", origin(t, l, "STATION"))
			require.Equal(t, "stk.ini:4", origin(t, l, "RELAY_TOKEN"))
			requireQuiet(t, l)
		})
	}
}

func TestLoad_EndOfFileMark(t *testing.T) {
	for _, tail := range []string{"\x1A", "\r\n\x1A", "\r\n\x1A\r\n", "\x1A\x1A", "  \x1A"} {
		l := read(t, "STATION=A\r\nRELAY_TOKEN=abc"+tail)
		require.Equal(t, Secret("abc"), l.Config.Token)
		requireQuiet(t, l)
	}
	l := read(t, "STATION=A\r\n\x1ARELAY_TOKEN=abc\x1AKMSN=5\r\nLEASE_TTL=15\r\n")
	require.Equal(t, Secret("abc"), l.Config.Token, "what was appended behind the mark counts")
	require.Equal(t, "5", l.Config.KMSN)
	require.Equal(t, "stk.ini:3", origin(t, l, "LEASE_TTL"))
	requireWarning(t, l, 2, "0x1A")
}

func TestLoad_BlanksAndCase(t *testing.T) {
	l := read(t, " \t kmsn \t=\t 47 11 \t\r\n  [ Relay ] ; ours\r\n\u3000Station\u3000= A B\r\nLeAsE_dIr=W:\\a b\\ \r\n")
	require.Equal(t, "47 11", l.Config.KMSN)
	require.Equal(t, "A B", l.Config.Station)
	require.Equal(t, `W:\a b\`, l.Config.LeaseDir)
	l = read(t, "STATION=A\u3000\r\nRELAY_TOKEN=\u00A0abc\r\n")
	require.Equal(t, "A\u3000", l.Config.Station)
	requireWarning(t, l, 1, "ends with an invisible character (U+3000)")
	requireWarning(t, l, 2, "starts with an invisible character (U+00A0)")
}

func TestLoad_FirstEqualsSplits(t *testing.T) {
	l := read(t, "STATION==A=B:C\r\nKMSN = =\r\n=lost\r\n")
	require.Equal(t, "=A=B:C", l.Config.Station)
	require.Equal(t, "=", l.Config.KMSN)
	requireWarning(t, l, 3, "no key in front")
}

func TestLoad_SectionOrder(t *testing.T) {
	const file = "STATION=top\n[POS]\nSTATION=pos\nKMSN=11\n[RELAY]\nSTATION=relay\n[DB]\nKMSN=22\n"
	l := read(t, file)
	require.Equal(t, "relay", l.Config.Station)
	require.Equal(t, "22", l.Config.KMSN, "the last of the other sections")
	requireWarning(t, l, 6, "STATION is on line 1 and on line 6; line 6 is used")
	requireWarning(t, l, 8, "KMSN is on line 4 and on line 8; line 8 is used")

	l = read(t, strings.Replace(file, "=relay", "=", 1))
	require.Equal(t, "top", l.Config.Station, "an empty value in [RELAY] erases nothing")
	l = read(t, strings.Replace(strings.Replace(file, "=relay", "=", 1), "=top", "=", 1))
	require.Equal(t, "pos", l.Config.Station)
	l = read(t, "[A]\nKMSN=1\n[B]\nKMSN=2\n[A]\nKMSN=3\n[B]\n")
	require.Equal(t, "3", l.Config.KMSN, "the last line, not the last section")
	l = read(t, "[relay.x]\nKMSN=1\n[relay]\nSTATION=A\n[DEFAULT]\nKMSN=2\n")
	require.Equal(t, "2", l.Config.KMSN, "[DEFAULT] is the top; [relay.x] is no part of [relay]")
}

func TestLoad_BrokenSections(t *testing.T) {
	for line, text := range map[string]string{
		"[RELAY":           "without ']'",
		"[RELAY ; ours":    "without ']'",
		"[RELAY] garbage":  "is ignored",
		"[RELAY]]":         "is ignored",
		"[RELAY]STATION=x": "is ignored",
	} {
		l := read(t, "[DB]\nSTATION=db\n"+line+"\nSTATION=A\n[ZZ]\nSTATION=zz")
		require.Equal(t, "A", l.Config.Station, line)
		requireWarning(t, l, 3, text)
	}
	for _, line := range []string{"[]", "[", "[ ]", "[=", "[;"} {
		l := read(t, line+"\nSTATION=A\n[RELAY]\nLEASE_TTL=15\n")
		require.Equal(t, "A", l.Config.Station, line)
		require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
	}
}

func TestLoad_UnknownKeys(t *testing.T) {
	l := read(t, "[relay]\nLEASE_TLT=5\nRELAY TOKEN=hunter2\nCOLOUR=red\n[POS]\nCOLOUR=red\nRELAYPORT=1\nset STATION=x\n")
	requireWarning(t, l, 2, "unknown key LEASE_TLT is ignored; did you mean LEASE_TTL?")
	requireWarning(t, l, 3, "did you mean RELAY_TOKEN?")
	requireWarning(t, l, 4, "unknown key COLOUR is ignored")
	require.False(t, warned(l, 6, ""), "other programs' keys in their sections are their business")
	requireWarning(t, l, 7, "did you mean RELAY_PORT?")
	for _, w := range l.Warnings {
		require.NotContains(t, w.Text, "hunter2")
	}
}

func TestLoad_OtherReadersSeeSomethingElse(t *testing.T) {
	l := read(t, "[relay]\nRELAY_ARGS=--x [y] %1\n KMSN=5\n[A]\n[A]\nRELAY_HOST=10.0.0.1\nLOG_LEVEL=info ;c\n")
	for line, text := range map[int]string{2: "[...]", 3: "indented", 5: "section [A] starts again", 7: "comment behind LOG_LEVEL"} {
		requireWarning(t, l, line, text)
	}
	requireWarning(t, l, 2, "'%'")
	requireQuiet(t, l)
	l = read(t, "STATION=A ;front desk\n")
	own, _ := split(l.Warnings)
	require.True(t, warned(&Loaded{Warnings: own}, 1, "starts no comment here"))
}

func TestLoad_WarningsAreBounded(t *testing.T) {
	l := read(t, "STATION=A\n"+strings.Repeat("junk\n", 5000))
	require.Len(t, l.Warnings, maxWarnings+1)
}

// A file that is anything but a stk.ini must not keep the daemon busy.
func TestLoad_WorkIsLinear(t *testing.T) {
	for _, line := range []string{"KMSN=1\n", "KMSN=\n", "[a]\n", "RELAY_TOKEM=x\n", "\xB3\n", "\x1A=", "\"", "=\r"} {
		began := time.Now()
		_, _ = Parse("/etc/stk.ini", []byte("STATION=A\n"+strings.Repeat(line, maxFile/2/len(line))), envOf())
		require.Less(t, time.Since(began), 20*time.Second, "%q", line)
	}
}
