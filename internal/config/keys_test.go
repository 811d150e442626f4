package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

func TestKeys_Table(t *testing.T) {
	want := strings.Fields(`KMSN STATION RELAY_TOKEN RELAY_TOKEN_OLD LEASE_DIR LEASE_SMB_PASSWORD LEASE_TTL LEASE_RENEW
		LEASE_POLL LEASE_FENCE LEASE_BEAT RELAY_EXE RELAY_ARGS RELAY_PORT RELAY_START_TIMEOUT RELAY_PING RELAY_HOST
		RELAY_PRIORITY RELAY_PREEMPT GOSSIP_PORT GOSSIP_BIND GOSSIP_ADVERTISE GOSSIP_PEERS FORWARD_PORT FORWARD_HOLD FORWARD_FALLBACK FORWARD_IDLE
		API_ADDR STATE_DIR LANG_UI LOG_LEVEL LOG_FILE`)
	var got []string
	for _, k := range Keys() {
		got = append(got, k.Name)
		require.NotEmpty(t, k.Doc, k.Name)
		require.NotEmpty(t, k.Allowed, k.Name)
		if k.Default != "" {
			_, err := k.set(&Config{}, k.Default)
			require.NoError(t, err, "the default of %s must be allowed", k.Name)
		}
	}
	require.Equal(t, want, got)
}

func TestLoad_Defaults(t *testing.T) {
	l, err := Parse("/etc/stk.ini", []byte("KMSN=4711\nSTATION=POS-01\nRELAY_TOKEN=0123456789abcdef\nSTATE_DIR=/s\nLOG_FILE=-\n"), envOf())
	require.NoError(t, err)
	require.Equal(t, Config{
		Path: "/etc/stk.ini", KMSN: "4711", Station: "POS-01", Token: "0123456789abcdef",
		LeaseDir: `W:\socket`, LeaseTTL: 10 * time.Second, LeaseRenew: 3 * time.Second, LeasePoll: 2 * time.Second,
		LeaseFence: 1500 * time.Millisecond, LeaseBeat: 250 * time.Millisecond,
		RelayPort: 9530, RelayStartTimeout: time.Minute, RelayPing: "tcp", RelayPriority: 100,
		GossipPort: 7946, ForwardHold: 15 * time.Second, APIAddr: "127.0.0.1:9532", StateDir: "/s", LangUI: "auto", LogLevel: "info",
	}, l.Config)
	require.Equal(t, "default", origin(t, l, "LEASE_TTL"))
}

func TestLoad_Accepts(t *testing.T) {
	c := func(key, text string) Config {
		t.Helper()
		return read(t, key+"="+text+"\n").Config
	}
	require.Equal(t, 250*time.Millisecond, c("LEASE_BEAT", "250 MS").LeaseBeat)
	require.Equal(t, 500*time.Millisecond, c("LEASE_FENCE", ".5\nLEASE_BEAT=0.1").LeaseFence)
	require.Equal(t, 90*time.Second, c("RELAY_START_TIMEOUT", "1m30s").RelayStartTimeout)
	require.Equal(t, []string{"-c", `C:\Program Files\r.ini`, `say "x"`, ""}, c("RELAY_ARGS", `-c "C:\Program Files\r.ini"	"say ""x""" ""`).RelayArgs)
	require.Equal(t, filepath.Join("/etc", "relay.bat"), c("RELAY_EXE", "relay.bat").RelayExe)
	require.Equal(t, `C:\STK\relay.exe`, c("RELAY_EXE", `C:\STK\relay.exe`).RelayExe)
	require.Equal(t, []string{"10.0.0.1:7946", "pos-2:7000"}, c("GOSSIP_PEERS", "10.0.0.1, pos-2:7000").GossipPeers)
	require.Equal(t, []string{"10.0.0.1:7000"}, c("GOSSIP_PEERS", "10.0.0.1\nGOSSIP_PORT=7000").GossipPeers)
	require.Equal(t, "relay.example.com:9530", c("RELAY_HOST", "relay.example.com:9530").RelayHost)
	require.Equal(t, "127.0.0.1", c("GOSSIP_ADVERTISE", "127.0.0.1").GossipAdvertise)
	require.Equal(t, `smb://DOM\floatrelay@server/share/socket`, c("LEASE_DIR", `smb://DOM\floatrelay@server/share/socket`).LeaseDir)
	require.Empty(t, c("LOG_FILE", "-").LogFile)
	require.Equal(t, "warn", c("LOG_LEVEL", "WARN").LogLevel)
	require.Equal(t, 0, c("RELAY_PRIORITY", "0").RelayPriority)
	for _, yes := range []string{"1", "yes", "ON", "True"} {
		require.True(t, c("RELAY_PREEMPT", yes).RelayPreempt)
	}
}

func TestLoad_Refuses(t *testing.T) {
	for key, texts := range map[string][]string{
		"KMSN":                {strings.Repeat("x", 33), "一二三四五六", "a\tb", "a\x07"},
		"STATION":             {strings.Repeat("x", 65), strings.Repeat("站", 11), strings.Repeat("站", 300), strings.Repeat(`\`, 33), strings.Repeat("\U00020000", 6)},
		"LEASE_DIR":           {"socket", "W:socket", `"W:\socket"`, "smb://server/share", "smb://u@/share", "smb://u@server", "smb://u@server/", "smb://u@server/s?x"},
		"LEASE_TTL":           {"2.9", "20.001", "0", "-5", "1h", "NaN"},
		"LEASE_RENEW":         {"0", "4", "99ms"},
		"LEASE_POLL":          {"0", "11"},
		"LEASE_FENCE":         {"299ms", "4", "1.0005", "1500500us"},
		"LEASE_BEAT":          {"0", "301ms", "19ms"},
		"RELAY_EXE":           {`"C:\x.exe"`},
		"RELAY_ARGS":          {`"open`, `a "b`},
		"RELAY_PORT":          {"0", "65535", "99999999999999999999", "9530.0", "+", "port", "7945", "7946", "9531", "9532"},
		"RELAY_START_TIMEOUT": {"0", "0.5", "11m"},
		"RELAY_PING":          {"icmp", "tcp hello"},
		"RELAY_HOST":          {"a b", "http://x", "x:0", "x:99999", "x:y", "10.0.0.1 ; old"},
		"RELAY_PRIORITY":      {"-1", "1001", "high"},
		"RELAY_PREEMPT":       {"2", "maybe"},
		"GOSSIP_PORT":         {"0", "65536", "9530", "9531", "9532"},
		"GOSSIP_BIND":         {"lan", "10.0.0.1:7946", "224.0.0.1"},
		"GOSSIP_ADVERTISE":    {"0.0.0.0", "::", "::1", "fe80::1", "255.255.255.255", "224.0.0.1", "pos1"},
		"GOSSIP_PEERS":        {"10.0.0.1:0", "a/b", "10.0.0.1:x"},
		"API_ADDR":            {"127.0.0.1", "0.0.0.0:9532", ":9532", "192.168.1.5:9532", "127.0.0.1:99999", "127.0.0.1:9530"},
		"STATE_DIR":           {"state", `"C:\x"`},
		"LOG_LEVEL":           {"loud"},
		"LOG_FILE":            {"x.log"},
	} {
		for _, text := range texts {
			_, p := refuse(t, "[RELAY]\n"+key+"="+text+"\n")
			require.Len(t, p, 1, "%s=%s: %v", key, text, p)
			line := p[0].Error()
			require.Contains(t, line, "/etc/stk.ini:2: ", text)
			require.Contains(t, line, key, text)
			require.Contains(t, line, "allowed: ", text)
			require.NotContains(t, line, "\n")
		}
	}
}

func TestLoad_NamesFitARecord(t *testing.T) {
	require.Equal(t, strings.Repeat("站", 10), read(t, "STATION="+strings.Repeat("站", 10)).Config.Station)
	require.Equal(t, strings.Repeat("x", 32), read(t, "KMSN="+strings.Repeat("x", 32)).Config.KMSN)
	_, p := refuse(t, "STATION="+strings.Repeat("站", 11))
	require.Contains(t, p.Error(), "66 bytes")
	require.Contains(t, p.Error(), "1 to 64 bytes")
	require.Contains(t, p.Error(), "at most 10 of them")
}

// What is accepted here must fit a record, and what fits is accepted.
func TestLoad_NamesAgreeWithTheLease(t *testing.T) {
	for _, letter := range []string{"x", `"`, "\\", "<", "é", "站", "\U00020000", "\u2028"} {
		for n := 1; n <= lease.MaxStation+1; n++ {
			station := strings.Repeat(letter, n)
			_, err := complete("STATION=" + station)
			require.Equal(t, lease.CheckStation(station) == nil, err == nil, "%q × %d: %v, %v", letter, n, lease.CheckStation(station), err)
		}
	}
}

func TestLoad_EveryProblemAtOnce(t *testing.T) {
	_, err := Parse("/etc/stk.ini", []byte("LEASE_TTL=99\nRELAY_PORT=x\nLOG_LEVEL=loud\n"), envOf("LEASE_POLL=60", "LEASE_RENEW=;"))
	require.Error(t, err)
	require.Equal(t, `/etc/stk.ini: KMSN is missing; allowed: 1 to 32 bytes of printable text, a Chinese character counts 6 (at most 5 of them)
/etc/stk.ini: STATION is missing; allowed: 1 to 64 bytes of printable text, a Chinese character counts 6 (at most 10 of them)
/etc/stk.ini: RELAY_TOKEN is missing; allowed: 1 to 1024 bytes of text, taken literally; 16 characters or more are advised
/etc/stk.ini:1: LEASE_TTL=99 is out of range; allowed: seconds (1.5) or a duration (250ms), 3s to 20s
environment: FLOATRELAY_LEASE_POLL=60 is out of range; allowed: seconds (1.5) or a duration (250ms), 100ms to 10s
/etc/stk.ini:2: RELAY_PORT=x is not a whole number; allowed: a whole number, 1 to 65534
/etc/stk.ini:3: LOG_LEVEL=loud is not allowed; allowed: debug, info, warn or error`, err.Error())
}

func TestLoad_Environment(t *testing.T) {
	file := []byte("KMSN=1\nSTATION=A\nRELAY_TOKEN=0123456789abcdef\nLEASE_TTL=99\nRELAY_HOST=a\nSTATE_DIR=/s\n")
	l, err := Parse("/etc/stk.ini", file, envOf("LEASE_TTL=15 ; x", "RELAY_HOST=", "STATION=功#1", "RELAY_PORT=;"))
	require.NoError(t, err, "an overridden value is not looked at")
	require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
	require.Equal(t, "功#1", l.Config.Station)
	require.Equal(t, "a", l.Config.RelayHost, "an empty variable overrides nothing")
	require.Equal(t, 9530, l.Config.RelayPort)
	require.Equal(t, "environment", origin(t, l, "STATION"))
	require.Equal(t, "stk.ini:5", origin(t, l, "RELAY_HOST"))
	_, err = Parse("/etc/stk.ini", file, envOf("LEASE_TTL=15", "STATION=a\xFFb"))
	require.ErrorContains(t, err, "environment: FLOATRELAY_STATION=a")
}
