package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
)

// verb is what fmt fills in.
var verb = regexp.MustCompile(`%[-+#]?[0-9]*(\.[0-9]+)?[a-z]`)

// sources is the program's text without its tests, with fmt's verbs and the
// seams of concatenated strings written as the documents write them.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	}))
	for _, code := range reason.Codes() {
		all.WriteString(words.English.Pattern(code) + "\n")
	}
	return verb.ReplaceAllString(all.String(), "…")
}

// Every message that operations.md explains is one the program has: a text
// changed in the code must be changed there.
func TestOperations_ExplainsRealMessages(t *testing.T) {
	doc, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "\n## Messages\n")
	require.True(t, found)
	code := sources(t)
	n := 0
	var missing []string
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cell := strings.SplitN(line, " | ", 2)[0]
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
			n++
			for _, part := range messageParts(m[1]) {
				if !strings.Contains(code, part) {
					missing = append(missing, part+" (of "+m[1]+")")
				}
			}
		}
	}
	require.Empty(t, missing, "the program says nothing like it")
	require.Greater(t, n, 60)
}

// messageParts are the literal stretches of a message worth looking for. What
// the code adds to many messages alike is cut off first.
func messageParts(m string) []string {
	for _, common := range []string{"stepping down: ", "not installed: "} {
		if rest, ok := strings.CutPrefix(m, common); ok {
			m = rest
		}
	}
	m = regexp.MustCompile(`^the lease ran out \((.*)\)$`).ReplaceAllString(m, "$1")
	var out []string
	for _, part := range strings.Split(m, "…") {
		if part = strings.Trim(part, " :;,().'"); len(part) > 5 {
			out = append(out, part)
		}
	}
	return out
}
