package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every line of SECURITY.md's table names tests, and they exist.
func TestSecurity_EveryLineNamesItsTests(t *testing.T) {
	doc, err := os.ReadFile("../../SECURITY.md")
	require.NoError(t, err)
	have := map[string]bool{}
	name := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range name.FindAllSubmatch(b, -1) {
			have[string(m[1])] = true
		}
		return err
	}))
	_, table, found := strings.Cut(string(doc), "|---|---|---|---|\n")
	require.True(t, found)
	lines := 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		lines++
		cells := strings.Split(strings.Trim(line, "|\n"), " | ")
		require.Len(t, cells, 4, line)
		tests := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(cells[3], -1)
		require.NotEmpty(t, tests, line)
		for _, m := range tests {
			require.True(t, have[m[1]], "no test is called %s: %s", m[1], line)
		}
	}
	require.Greater(t, lines, 20)
}
