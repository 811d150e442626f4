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
	scripts, err := filepath.Glob("../../deploy/windows/*.ps1")
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
