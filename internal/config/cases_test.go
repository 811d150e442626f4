package config

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dbcs5C are frequent characters whose second cp950 byte is a backslash.
var dbcs5C = map[string]rune{
	"\xA5\x5C": '功', "\xB3\x5C": '許', "\xBB\x5C": '蓋', "\xC0\x5C": '餐', "\xB2\x5C": '淚', "\xAF\x5C": '珮',
	"\xA4\x5C": '么', "\xA8\x5C": '沔', "\xAB\x5C": '俞', "\xC2\x5C": '擺', "\xC3\x5C": '黠',
}

func TestCaseD01_BackslashAtLineEnd(t *testing.T) {
	for _, eol := range []string{"\r\n", "\n", "\r"} {
		l := read(t, "[relay]"+eol+`LEASE_DIR=W:\socket\`+eol+"RELAY_TOKEN=abc"+eol)
		require.Equal(t, `W:\socket\`, l.Config.LeaseDir)
		require.Equal(t, Secret("abc"), l.Config.Token)
		requireWarning(t, l, 2, "ends with a backslash")
	}
}

func TestCaseD02_TwoBackslashes(t *testing.T) {
	for _, dir := range []string{`W:\socket\\`, `\\server\share\`, `\\server\share\\`, `W:\a\\\`, `W:\a \`} {
		l := read(t, "[relay]\r\nLEASE_DIR="+dir+"\r\nRELAY_TOKEN=abc\r\n")
		require.Equal(t, dir, l.Config.LeaseDir)
		require.Equal(t, Secret("abc"), l.Config.Token)
	}
}

func TestCaseD03_Big5CharacterEndsInBackslash(t *testing.T) {
	for raw, want := range dbcs5C {
		l := read(t, "[relay]\r\nSTATION="+raw+"\r\nRELAY_TOKEN=abc\r\n")
		require.Equal(t, string(want), l.Config.Station)
		require.Equal(t, Secret("abc"), l.Config.Token)
		require.Equal(t, "cp950", l.Encoding)
		requireWarning(t, l, 2, "second cp950 byte is a backslash")
		requireQuiet(t, l)
	}
}

func TestCaseD03_TheRemarkFindsTheCharacter(t *testing.T) {
	l := read(t, "\xA5\x5C\x1ARELAY_HOST=a\x1ASTATION=\xA5\x5C \t\r\nKMSN=\xA5\x5Cx\r\n")
	requireWarning(t, l, 1, "STATION ends with a character whose second cp950 byte is a backslash")
	require.False(t, warned(l, 2, "cp950"))
	require.False(t, warned(l, 1, "RELAY_HOST"))
}

// Every assigned character with 0x5C behind it, not only the well-known ones.
func TestCaseD03_EveryTrailingBackslash(t *testing.T) {
	n := 0
	for lead := 0x81; lead <= 0xFE; lead++ {
		want, kind := cp950Pair(byte(lead), '\\')
		if kind == pairBad {
			continue
		}
		n++
		l := read(t, "[relay]\r\nSTATION=\xA4\xA4"+string([]byte{byte(lead), '\\'})+"\r\nRELAY_TOKEN=abc\r\n")
		require.Equal(t, "中"+string(want), l.Config.Station)
		require.Equal(t, Secret("abc"), l.Config.Token)
	}
	require.Greater(t, n, 100)
}

func TestCaseD04_Big5InsideValuesAndPaths(t *testing.T) {
	l := read(t, "STATION=\xB3\x5C\xA5\x5C\xBB\x5C\r\nLEASE_DIR=W:\x5C\xB3\x5C\xA5\x5C\xBB\x5C\x5Csocket\x5C\r\nRELAY_TOKEN=abc\r\n")
	require.Equal(t, "許功蓋", l.Config.Station)
	require.Equal(t, `W:\許功蓋\socket\`, l.Config.LeaseDir)
	require.Equal(t, Secret("abc"), l.Config.Token)
	for raw, want := range dbcs5C {
		l := read(t, "LEASE_DIR=W:\\"+raw+"\\"+raw+"x\r\nSTATION="+raw+raw+"\r\n")
		require.Equal(t, `W:\`+string(want)+`\`+string(want)+"x", l.Config.LeaseDir)
		require.Equal(t, string(want)+string(want), l.Config.Station)
	}
	// Other trail bytes in ASCII that mean something to an ini reader.
	l = read(t, "STATION=\xA4\x5B\xA4\x5D\xA4\x7C\xA4\x40\r\nRELAY_TOKEN=abc") // 久丸四一… with [ ] | @
	require.Len(t, []rune(l.Config.Station), 4)
}

func TestCaseD05_TablesDisagreeAndUnassignedPairs(t *testing.T) {
	t.Run("only in cp950 and ETEN", func(t *testing.T) {
		l := read(t, "STATION=\xF9\xD8\r\nRELAY_TOKEN=abc\r\n")
		require.Equal(t, "裏", l.Config.Station)
		requireQuiet(t, l)
	})
	t.Run("user-defined pair", func(t *testing.T) {
		l := read(t, "KMSN=1\r\nSTATION=\x83\x5C\r\nRELAY_TOKEN=abc\r\n")
		require.Equal(t, "\uF00E", l.Config.Station)
		require.Equal(t, Secret("abc"), l.Config.Token)
		requireWarning(t, l, 2, "0x835C")
	})
	t.Run("unassigned pair", func(t *testing.T) {
		l := read(t, "KMSN=1\r\nSTATION=\xA3\xC0x\r\nRELAY_TOKEN=abc\r\n")
		require.Equal(t, "?x", l.Config.Station)
		require.Equal(t, Secret("abc"), l.Config.Token)
		requireWarning(t, l, 2, "0xA3C0")
	})
	t.Run("lone lead byte at the end of the file", func(t *testing.T) {
		l := read(t, "RELAY_TOKEN=abc\r\nSTATION=A\xB3")
		require.Equal(t, "A?", l.Config.Station)
		requireWarning(t, l, 2, "0xB3")
	})
	t.Run("lone lead byte at the end of a line", func(t *testing.T) {
		l := read(t, "STATION=A\xB3\r\nRELAY_TOKEN=abc\r\nLEASE_TTL=15")
		require.Equal(t, "A?", l.Config.Station)
		require.Equal(t, Secret("abc"), l.Config.Token)
		require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
		requireWarning(t, l, 1, "0xB3")
	})
	t.Run("a secret or KMSN of unreadable bytes is refused", func(t *testing.T) {
		_, p := refuse(t, "STATION=A\r\nRELAY_TOKEN=secret\xA3\xC0\r\n")
		require.Contains(t, p.Error(), "stk.ini:2: RELAY_TOKEN contains bytes that are no characters")
		require.NotContains(t, p.Error(), "secret\uFFFD")
		_, p = refuse(t, "STATION=A\r\nKMSN=47\xA3\xC0\r\n")
		require.Contains(t, p.Error(), "stk.ini:2: KMSN=47\uFFFD contains bytes that are no characters")
	})
}

func TestCaseD06_UTF8BOM(t *testing.T) {
	l := read(t, "\xEF\xBB\xBF[relay]\r\nLEASE_TTL=15")
	require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
	require.Equal(t, "UTF-8 with BOM", l.Encoding)
	requireQuiet(t, l)
	l = read(t, "\xEF\xBB\xBFRELAY_TOKEN=abc")
	require.Equal(t, Secret("abc"), l.Config.Token)
	l = read(t, "\xEF\xBB\xBF\xEF\xBB\xBFRELAY_TOKEN=abc\r\n") // two tools, two BOMs
	require.Equal(t, Secret("abc"), l.Config.Token)
	l = read(t, "KMSN=1\r\n\xEF\xBB\xBFRELAY_TOKEN=abc\r\n") // files glued together
	require.Equal(t, Secret("abc"), l.Config.Token)
	l = read(t, "\xEF\xBB\xBF[relay]\r\nSTATION=\xB3\x5C\xA5\x5C\r\nRELAY_TOKEN=abc\r\n") // a BOM put in front of Big5
	require.Equal(t, "許功", l.Config.Station)
	require.Equal(t, Secret("abc"), l.Config.Token)
	require.Equal(t, "cp950 behind a UTF-8 BOM", l.Encoding)
	requireWarning(t, l, 1, "is cp950, and is read so")
	l = read(t, "\xEF\xBB\xBFSTATION=功\xA3\xC0\r\nRELAY_TOKEN=abc\r\n") // UTF-8 with one bad character
	require.Equal(t, "功??", l.Config.Station)
	require.Equal(t, "UTF-8 with BOM", l.Encoding)
}

func TestCaseD07_NotepadUnicode(t *testing.T) {
	const text = "[relay]\r\nKMSN=站\r\nSTATION=功\U00020000\r\nLEASE_DIR=W:\\socket\\\r\nRELAY_TOKEN=ab#cd;ef\r\n"
	for name, raw := range map[string]string{
		"LE": "\xFF\xFE" + utf16Bytes(text, false), "BE": "\xFE\xFF" + utf16Bytes(text, true),
		"LE without BOM": utf16Bytes(text, false), "BE without BOM": utf16Bytes(text, true),
		"LE with NUL tail":     "\xFF\xFE" + utf16Bytes(text, false) + strings.Repeat("\x00", 32),
		"LE with odd NUL tail": "\xFF\xFE" + utf16Bytes(text, false) + strings.Repeat("\x00", 33),
	} {
		t.Run(name, func(t *testing.T) {
			l := read(t, raw)
			require.Equal(t, "站", l.Config.KMSN)
			require.Equal(t, "功\U00020000", l.Config.Station)
			require.Equal(t, `W:\socket\`, l.Config.LeaseDir)
			require.Equal(t, Secret("ab#cd;ef"), l.Config.Token)
			require.Equal(t, "stk.ini:3", origin(t, l, "STATION"))
			require.Contains(t, l.Encoding, "UTF-16")
		})
	}
	t.Run("the sample", func(t *testing.T) {
		l := read(t, "\xFF\xFE[\x00r\x00]\x00\r\x00\n\x00A\x00=\x001\x00\r\x00\n\x00")
		require.Equal(t, "UTF-16 LE", l.Encoding)
	})
	t.Run("half a character", func(t *testing.T) {
		l := read(t, "\xFF\xFE"+utf16Bytes("KMSN=1\r\nSTATION=A", false)+"\x00\xD8"+utf16Bytes("B\r\nLEASE_TTL=15\r\n", false)+"X")
		require.Equal(t, "A?B", l.Config.Station)
		require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
		requireWarning(t, l, 2, "half a character")
		requireWarning(t, l, 3, "half a character")
	})
	t.Run("UTF-32 is refused by name", func(t *testing.T) {
		_, p := refuse(t, "\xFF\xFE\x00\x00A\x00\x00\x00=\x00\x00\x00")
		require.Contains(t, p.Error(), "UTF-32")
	})
}

func TestCaseD08_CommentSignsInSecret(t *testing.T) {
	for _, token := range []string{"ab#cd;ef", "ab;cd#ef", "ab #cd", "ab ;cd", "#abc", ";abc", "a=b=c", "=a", "a:b", "%(KMSN)s", "%PATH%", "$x", "[a]", "a\\", "`a`"} {
		l := read(t, "[relay]\r\nKMSN=1\r\nRELAY_TOKEN="+token+"\r\nSTATION=A\r\n")
		require.Equal(t, Secret(token), l.Config.Token)
		require.Equal(t, "A", l.Config.Station)
	}
	l := read(t, "RELAY_TOKEN=ab#cd;ef\r\n")
	requireWarning(t, l, 1, "Harbour cuts at '#'")
	v, _ := l.Get("RELAY_TOKEN")
	require.Equal(t, Fingerprint(l.Config.KMSN, "ab#cd;ef"), v.Text)
	require.NotEqual(t, Fingerprint(l.Config.KMSN, "ab"), v.Text)
}

func TestCaseD09_CommentBehindNumber(t *testing.T) {
	for _, text := range []string{"15 ; seconds", "15\t#s", "15;s", "15 #", "15s ; s", "\t15  ", "15.0 ;; #"} {
		l := read(t, "[relay]\r\nLEASE_TTL="+text+"\r\nRELAY_PORT=9600 ; was 9530\r\nRELAY_PREEMPT=1 # yes\r\nLOG_LEVEL=debug ;x\r\n")
		require.Equal(t, 15*time.Second, l.Config.LeaseTTL, text)
		require.Equal(t, 9600, l.Config.RelayPort)
		require.True(t, l.Config.RelayPreempt)
		require.Equal(t, "debug", l.Config.LogLevel)
	}
	for _, text := range []string{"15 seconds", "15 // s", "15 - s", "fifteen", "15,0", "0x0F", "1e1", "inf", "-15", "１５"} {
		_, p := refuse(t, "[relay]\r\nLEASE_TTL="+text+"\r\n")
		require.Len(t, p, 1)
		require.Contains(t, p.Error(), "/etc/stk.ini:2: LEASE_TTL="+text+" ")
		require.Contains(t, p.Error(), "3s to 20s")
	}
	t.Run("only a comment is no value", func(t *testing.T) {
		l := read(t, "RELAY_HOST=10.0.0.5\r\nLEASE_TTL=15\r\nLEASE_TTL= ; was 12\r\n")
		require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
	})
}

func TestCaseD10_Quotes(t *testing.T) {
	for _, token := range []string{`"abc"`, `'abc'`, `"abc`, `abc"`, `'`, `"`, `""`, `"""abc"""`} {
		l := read(t, "KMSN=1\r\nRELAY_TOKEN="+token+"\r\nSTATION=A")
		require.Equal(t, Secret(token), l.Config.Token)
		require.Equal(t, "A", l.Config.Station)
		requireWarning(t, l, 2, "quote")
		own, _ := split(l.Warnings)
		require.True(t, warned(&Loaded{Warnings: own}, 2, "quote"), "a quoted secret concerns this program too")
	}
	t.Run("a quoted path is an error, not a folder that does not exist", func(t *testing.T) {
		_, p := refuse(t, `RELAY_EXE="C:\Program Files\relay.exe"`)
		require.Contains(t, p.Error(), "RELAY_EXE")
		require.Contains(t, p.Error(), "quotes")
	})
}

func TestCaseD11_BackQuoteAndTripleQuote(t *testing.T) {
	for _, token := range []string{"`abc", "`", "`abc`", `"""abc`, `"""`} {
		l := read(t, "[relay]\r\nRELAY_TOKEN="+token+"\r\nSTATION=A\r\nLEASE_TTL=15\r\n")
		require.Equal(t, Secret(token), l.Config.Token)
		require.Equal(t, "A", l.Config.Station)
		require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
		requireWarning(t, l, 2, "back-quote")
	}
}

func TestCaseD13_Duplicates(t *testing.T) {
	l := read(t, "[relay]\nRELAY_HOST=10.0.0.5\nRELAY_HOST=\nLEASE_TTL=15\n[relay]\nLEASE_TTL=16\n")
	require.Equal(t, "10.0.0.5", l.Config.RelayHost, "an empty duplicate does not erase")
	require.Equal(t, 16*time.Second, l.Config.LeaseTTL, "the last one wins")
	requireWarning(t, l, 3, "RELAY_HOST is on line 2 and on line 3; line 2 is used")
	requireWarning(t, l, 6, "LEASE_TTL is on line 4 and on line 6; line 6 is used")
	requireWarning(t, l, 5, "section [relay] starts again (first on line 1)")
	t.Run("the sample is out of range, and says which line", func(t *testing.T) {
		_, p := refuse(t, "[relay]\nRELAY_HOST=10.0.0.5\nRELAY_HOST=\nLEASE_TTL=15\n[relay]\nLEASE_TTL=99\n")
		require.Contains(t, p.Error(), "stk.ini:6: LEASE_TTL=99")
	})
	t.Run("case and blanks make no other key", func(t *testing.T) {
		l := read(t, "[Relay]\nStation = A\n[ RELAY ]\n\tsTaTiOn=B\n")
		require.Equal(t, "B", l.Config.Station)
		requireWarning(t, l, 4, "STATION is on line 2 and on line 4")
	})
	t.Run("three times", func(t *testing.T) {
		l := read(t, "STATION=A\nSTATION=B\nSTATION=\n")
		require.Equal(t, "B", l.Config.Station)
		requireWarning(t, l, 2, "on line 1 and on line 2")
		requireWarning(t, l, 3, "on line 2 and on line 3; line 2 is used")
	})
}

func TestCaseD15_StrayLines(t *testing.T) {
	for _, stray := range []string{"just a note", "//note", "\x7F", strings.Repeat("\x7F", 80), "-----", "a: b", "RELAY]", "REM old", "@echo off", "<?xml?>", "KEY＝1", "\u3000"} {
		l := read(t, "LEASE_TTL=15\n"+stray+"\nLEASE_RENEW=5")
		require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
		require.Equal(t, 5*time.Second, l.Config.LeaseRenew)
		if strings.TrimSpace(stray) != "" {
			requireWarning(t, l, 2, "ignored")
		}
	}
	t.Run("a stray line may be a secret and is not shown", func(t *testing.T) {
		l := read(t, "LEASE_TTL=15\nhunter2hunter2\nRELAY_TOKEN hunter2\n")
		requireWarning(t, l, 3, "RELAY_TOKEN without '='")
		for _, w := range l.Warnings {
			require.NotContains(t, w.Text, "hunter2")
		}
	})
}

func TestCaseD17_NULs(t *testing.T) {
	t.Run("tail", func(t *testing.T) {
		for _, tail := range []string{"\x00", strings.Repeat("\x00", 16), "\r\n\x00\x00", "\x1A\x00\x00", "\r\n\x00\r\n\x00"} {
			l := read(t, "LEASE_TTL=15\nRELAY_TOKEN=abc"+tail)
			require.Equal(t, 15*time.Second, l.Config.LeaseTTL)
			require.Equal(t, Secret("abc"), l.Config.Token)
			requireWarning(t, l, 2, "NUL bytes at the end")
		}
	})
	t.Run("nothing else", func(t *testing.T) {
		for _, raw := range []string{strings.Repeat("\x00", 512), "\x00", "\x00\x00\x00", "", "\xEF\xBB\xBF", "\xFF\xFE", "\xFF\xFE\x00\x00", "\r\n\r\n", " ", "\x1A", ";only\n#comments\n", "[relay]\r\n", "KMSN 4711\nSTATION A\n", "\xEF\xBB\xBF\x00\x00"} {
			_, p := refuse(t, raw)
			require.Len(t, p, 1, "%q", raw)
			require.ErrorIs(t, p, ErrDamaged, "%q", raw)
			require.Contains(t, p.Error(), "/etc/stk.ini: ")
		}
	})
	t.Run("in front or inside", func(t *testing.T) {
		for raw, where := range map[string]string{
			"\x00\x00\x00\x00KMSN=4711\nSTATION=A\nRELAY_TOKEN=abc\n":                         "/etc/stk.ini:1: ",
			"KMSN=4711\nSTATION=A\n" + strings.Repeat("\x00", 512) + "\nRELAY_TOKEN=abcdef\n": "/etc/stk.ini:3: ",
			"KMSN=47\x0011\r\nSTATION=A\r\nRELAY_TOKEN=abc\r\n":                               "/etc/stk.ini:1: ",
		} {
			_, p := refuse(t, raw)
			require.ErrorIs(t, p, ErrDamaged)
			require.Contains(t, p.Error(), where)
		}
	})
}
