package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the PowerShell of every Windows, 5.1, would read otherwise than meant.
var powershellTraps = map[string]*regexp.Regexp{
	"takes a file without a BOM for the PC's own code page": regexp.MustCompile(`[^\x00-\x7f]`),
	"does not know && and ||":                               regexp.MustCompile(`&&|\|\|`),
	"does not know ?? and ?.":                               regexp.MustCompile(`\?\?|\?\.\w`),
	"takes ? and : for a part of the name before":           regexp.MustCompile(`"[^"]*\$(?:[A-Za-z_]\w*)[?:](?:[^:A-Za-z]|")`),
	"makes errors of what a program writes, if redirected":  regexp.MustCompile(`2>&1`),
}

// The scripts for Windows keep clear of them.
func TestPowerShellScripts(t *testing.T) {
	scripts, err := filepath.Glob("../../../deploy/windows/*.ps1")
	require.NoError(t, err)
	require.Len(t, scripts, 2)
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for n, line := range strings.Split(string(text), "\n") {
			for why, trap := range powershellTraps {
				require.False(t, trap.MatchString(line), "%s:%d: PowerShell 5.1 %s: %s", path, n+1, why, line)
			}
		}
	}
	for line, why := range map[string]string{
		`Fail "is there an account $User?"`: "takes ? and : for a part of the name before",
		`& icacls.exe $ini "$User: R"`:      "takes ? and : for a part of the name before",
		`a && b`:                            "does not know && and ||",
	} {
		require.Regexp(t, powershellTraps[why], line)
	}
}

// siteStations are files for a whole site that would give each PC one name.
var siteStations = map[string]string{
	"at the top":        "STATION=POS-01\r\nKMSN=4711\r\n",
	"in a section":      "KMSN=4711\r\n[RELAY]\r\n station = POS-01\r\n",
	"after a BOM":       "\xef\xbb\xbfSTATION=POS-01\r\n",
	"lines end in CR":   "KMSN=4711\rSTATION\t=POS-01\r",
	"after an old mark": "KMSN=4711\x1aSTATION=POS-01",
}

// siteNames are such files without one.
var siteNames = map[string]string{
	"a comment":       ";STATION=POS-01\r\n# STATION=POS-01\r\nKMSN=4711\r\n",
	"in a value":      "RELAY_ARGS=-STATION=POS-01\r\n",
	"another key":     "MY_STATION=POS-01\r\nSTATIONS=3\r\n",
	"Big5":            "SHOP=\xa5\x5c\xb3\x5c\r\nKMSN=4711\r\n",
	"byte order mark": "\xef\xbb\xbfKMSN=4711\r\n",
}

// install.ps1 tells a site.ini that names STATION from one that does not, by a
// pattern that both .NET and Go read.
func TestPowerShellScripts_FindAStation(t *testing.T) {
	script, err := os.ReadFile("../../../deploy/windows/install.ps1")
	require.NoError(t, err)
	m := regexp.MustCompile(`GetString\(\$site\) -match '([^']+)'`).FindSubmatch(script)
	require.NotNil(t, m)
	pattern := regexp.MustCompile(string(m[1]))
	latin1 := func(text string) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			b.WriteRune(rune(c))
		}
		return b.String()
	}
	for name, text := range siteStations {
		require.Regexp(t, pattern, latin1(text), name)
	}
	for name, text := range siteNames {
		require.NotRegexp(t, pattern, latin1(text), name)
	}
}
