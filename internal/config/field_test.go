package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const hush = "hush7f3ak29xqd04m"

// quiet fails if anything that is printed holds the secret.
func quiet(t *testing.T, l *Loaded, err error) {
	t.Helper()
	var b strings.Builder
	WriteCheck(&b, l, err)
	require.NotContains(t, b.String(), "hush")
	require.NotContains(t, b.String(), "29xqd04m")
}

func TestN4_NoAddressesAtAll(t *testing.T) {
	for line, want := range map[string]string{
		"GOSSIP_PEERS=192.168.001.011":      "192.168.1.11",
		"GOSSIP_PEERS=192.168.1.300":        "192.168.1.300",
		"GOSSIP_PEERS=192.168.1":            "192.168.1",
		"GOSSIP_PEERS=10.0.0.1 -":           "-",
		"GOSSIP_PEERS=0.0.0.0":              "no address of a PC",
		"GOSSIP_PEERS=255.255.255.255":      "no address of a PC",
		"GOSSIP_PEERS=224.0.0.1:7946":       "no address of a PC",
		"GOSSIP_PEERS=fd00::12":             "IPv4 only",
		"GOSSIP_PEERS=[fd00::12]:7946":      "IPv4 only",
		"GOSSIP_PEERS=12":                   "12",
		"GOSSIP_PEERS=pos..lan":             "pos..lan",
		"GOSSIP_PEERS=-pos":                 "-pos",
		"GOSSIP_ADVERTISE=192.168.001.011":  "192.168.1.11",
		"GOSSIP_BIND=010.0.0.5":             "10.0.0.5",
		"RELAY_HOST=010.000.000.005:9530":   "10.0.0.5",
		"RELAY_HOST=192.168.1.300:9530":     "192.168.1.300",
		"GOSSIP_PEERS=192.168.1.11.12:7946": "192.168.1.11.12",
	} {
		_, p := refuse(t, line+"\n")
		require.Contains(t, p.Error(), want, line)
		require.Contains(t, p.Error(), "/etc/stk.ini:1", line)
	}
	for _, line := range []string{"GOSSIP_PEERS=pos-1, kasse2.lan.:7000 10.0.0.9", "RELAY_HOST=1and1.example.com:9530", "RELAY_HOST=[fd00::12]:9530"} {
		read(t, line+"\n")
	}
}

func TestN6_UNCInItsSpellings(t *testing.T) {
	for dir, want := range map[string]string{
		`\\?\UNC\nas\pos\x`: "nas", `\\?\unc\nas\pos`: "nas", `//nas/pos/x`: "nas", `\\nas/pos/x`: "nas",
		`\\nas@SSL\DavWWWRoot\x`: "nas", `\\nas@8080\x`: "nas", `\\?\C:\socket`: "", `\\tsclient\c\x`: "tsclient",
	} {
		require.Equal(t, want, Config{LeaseDir: dir}.ShareHost(), dir)
	}
	for _, dir := range []string{`\\nas`, `\\nas\`, `\\`, `\\?\UNC\nas`, `\\nas/`} {
		_, p := refuse(t, "LEASE_DIR="+dir+"\n")
		require.Contains(t, p.Error(), "names no share", dir)
	}
	for dir, what := range map[string]string{
		`\\nas@SSL\DavWWWRoot\x`: "WebDAV", `\\nas\DavWWWRoot\x`: "WebDAV", `\\tsclient\c\x`: "remote desktop",
		`\\wsl$\Ubuntu\srv`: "Linux subsystem", `\\wsl.localhost\Ubuntu\srv`: "Linux subsystem",
	} {
		requireWarning(t, read(t, "LEASE_DIR="+dir+"\n"), 1, what)
	}
}

func TestI1_TwoEncodingsInOneFile(t *testing.T) {
	head := "KMSN=4711\r\nRELAY_TOKEN=" + hush + "\r\n"
	for name, raw := range map[string]string{
		"LE, even":      "\xFF\xFE" + utf16Bytes(head, false) + "RELAY_PORT=9540\r\n ",
		"LE, odd":       "\xFF\xFE" + utf16Bytes(head, false) + "RELAY_PORT=9540\r\n",
		"BE":            "\xFE\xFF" + utf16Bytes(head, true) + "RELAY_PORT=9540\r\n",
		"no BOM":        utf16Bytes(head, false) + "relay_port =9540\r\n",
		"token on it":   "\xFF\xFE" + utf16Bytes("KMSN=4711\r\nSTATION=A\r\n", false) + "RELAY_TOKEN=" + hush,
		"lower case":    "\xFF\xFE" + utf16Bytes(head, false) + "gossip_port=9540",
		"UTF-16 behind": head + "X=1\r\n" + utf16Bytes("RELAY_PORT=9540\r\n", false),
	} {
		t.Run(name, func(t *testing.T) {
			l, p := refuse(t, raw)
			require.ErrorIs(t, p, ErrDamaged)
			require.Positive(t, p[0].Line)
			quiet(t, l, p)
		})
	}
}

func TestI1_HalfACharacterInASecret(t *testing.T) {
	for _, key := range []string{"RELAY_TOKEN", "KMSN"} {
		for _, raw := range []string{utf16Bytes(key+"="+hush, false) + "X", utf16Bytes(key+"=ab", false) + "\x00\xD8" + utf16Bytes("c\r\n", false)} {
			_, p := refuse(t, "\xFF\xFE"+raw)
			require.Contains(t, p.Error(), key)
			require.Contains(t, p.Error(), "no characters")
		}
	}
}

func TestI2_SecretBrokenOverLines(t *testing.T) {
	for name, raw := range map[string]string{
		"second half with '='": "[relay]\nRELAY_TOKEN=abcdefghijklmnopqr\n" + hush + "==\nKMSN=1\n",
		"three lines":          "[relay]\nRELAY_TOKEN=abcdefghijklmnopqr\nhushA=\n" + hush + "=\n",
		"colon":                "[relay]\nRELAY_TOKEN:" + hush + "=\n",
		"colon and blank":      "[relay]\nRELAY_TOKEN : " + hush + "=x\n",
		"no key":               "[relay]\nX=1\n" + hush + "/+x=\n",
		"old one":              "[relay]\nRELAY_TOKEN_OLD=abcdefghijklmnopqr\n" + hush + "=\n",
		"password":             "[relay]\nLEASE_SMB_PASSWORD=x\n" + hush + "=\n",
		"exported":             "export RELAY_TOKEN=\"" + hush + "\"\n" + "STATION=A\n",
		"stray, then '='":      "[relay]\nRELAY_TOKEN=abcdefghijklmnop\nhush\n" + hush + "=1\n",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := complete(raw)
			quiet(t, l, err)
			own, _ := split(l.Warnings)
			require.NotEmpty(t, own)
		})
	}
}

func TestI3_GuessedCodePageIsSaid(t *testing.T) {
	l := read(t, "LEASE_DIR=W:\\Caf\xE9\\socket\nRELAY_TOKEN=\xA5\x5Chush\n")
	requireWarning(t, l, 1, "LEASE_DIR is read as W:\\Caf")
	require.False(t, warned(l, 2, "is read as"), "never a secret")
	require.False(t, warned(read(t, "LEASE_DIR=W:\\Café\\socket\n"), 1, "is read as"))
}

func TestI4_OtherProgramsSyntax(t *testing.T) {
	for line, key := range map[string]string{
		"export KMSN=4711": "KMSN", "set KMSN=4711": "KMSN", "SET STATION=A": "STATION",
		"Environment=KMSN=4711": "KMSN", `Environment="STATION=A"`: "STATION", "$env:KMSN=4711": "KMSN", `set "KMSN=4711"`: "KMSN",
	} {
		_, p := refuse2(line + "\nRELAY_PORT=9530\n")
		found := false
		for _, e := range p {
			found = found || e.Key == key && e.Line == 1 && strings.Contains(e.Error(), "begin this line with "+key+"=")
		}
		require.True(t, found, "%s: %v", line, p)
	}
	l := read(t, "KMSN=\"4711\"\n")
	own, _ := split(l.Warnings)
	require.Contains(t, own[0].Text+own[len(own)-1].Text, "KMSN is in quotes")
}

// refuse2 reads without an environment that supplies what is missing.
func refuse2(raw string) (*Loaded, Problems) {
	l, err := Parse("/etc/stk.ini", []byte(raw), envOf())
	p, _ := errors.AsType[Problems](err)
	return l, p
}

func TestI5_WhatHarbourReadsDifferently(t *testing.T) {
	requireWarning(t, read(t, "RELAY_ARGS=-c include x.ini\n"), 1, "include")
	requireWarning(t, read(t, "RELAY_ARGS=-c x ||\nLEASE_TTL=10\n"), 1, "'||'")
	require.False(t, warned(read(t, "RELAY_ARGS=-c x||\n"), 1, "'||'"))
}

func TestU8_Typing(t *testing.T) {
	l := read(t, "STATON=A\nKMNS=1\nREALY_EXE=x\n[POS]\nSTATIN=5\n")
	requireWarning(t, l, 1, "did you mean STATION?")
	requireWarning(t, l, 2, "did you mean KMSN?")
	requireWarning(t, l, 3, "did you mean RELAY_EXE?")
	require.False(t, warned(l, 5, ""))
	for _, v := range []string{`C:\STK\relay_server.exe -p 9530`, `relay.bat /q`, `C:\My Programs\relay.exe --x`, `"C:\STK\relay.exe" 9530`} {
		_, p := refuse(t, "RELAY_EXE="+v+"\n")
		require.True(t, strings.Contains(p.Error(), "RELAY_ARGS") || strings.Contains(p.Error(), "quotes"), v)
	}
	for _, v := range []string{`C:\Program Files\my relay.exe`, `C:\old.exe files\relay.exe`, "/opt/relay server", "relay"} {
		read(t, "RELAY_EXE="+v+"\n")
	}
}

func TestU8_StkIniTxt(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	require.NoError(t, os.WriteFile(path+".txt", []byte("KMSN=1"), 0o600))
	_, err := find([]string{path})
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, "stk.ini.txt")
	_, err = Load(path, envOf())
	require.ErrorContains(t, err, "rename "+path+".txt")
}
