package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/ini.v1"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

const docsPath = "../../docs/configuration.md"

func TestDocs_MatchTheTable(t *testing.T) {
	head, err := os.ReadFile(filepath.Join("testdata", "configuration.head.md"))
	require.NoError(t, err)
	want := strings.ReplaceAll(string(head), "\r\n", "\n") + keysTable() + comparison(t)
	if *update {
		require.NoError(t, os.WriteFile(docsPath, []byte(want), 0o644))
	}
	got, err := os.ReadFile(docsPath)
	require.NoError(t, err)
	require.Equal(t, want, strings.ReplaceAll(string(got), "\r\n", "\n"), "docs/configuration.md is out of date: go test ./internal/config -run TestDocs -update")
}

func keysTable() string {
	var b strings.Builder
	b.WriteString("\n## Keys\n")
	group := ""
	for _, k := range Keys() {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&b, "\n### %s\n\n| key | default | allowed | what it does |\n|---|---|---|---|\n", group)
		}
		def := cell(k.defaultWords())
		if k.PerOS == "" && k.Default != "" {
			def = code(k.Default)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Name, def, cell(k.Allowed), cell(k.Doc))
	}
	return b.String()
}

// comparison runs both readers on the same bytes.
func comparison(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n## What another reader makes of the same file\n\n" +
		"Each row is a file from the field, read by ini.v1 with its default options and by floatrelay. " +
		"The table is written by a test that runs both. Files are shown as Go strings; in values a byte that is no ASCII character is shown as \\xNN.\n\n" +
		"| case | file | ini.v1, defaults | floatrelay | why |\n|---|---|---|---|---|\n")
	for _, r := range rowsD {
		fmt.Fprintf(&b, "| %s %s | %s | %s | %s | %s |\n", r.id, cell(r.what), code(bytesText(r.raw)), theirs(r), ours(t, r), cell(r.why))
	}
	return b.String()
}

// theirs reads with ini.v1 as a program would that looks into [relay] and the
// top of the file.
func theirs(r rowD) string {
	f, err := ini.Load([]byte(r.raw))
	if err != nil {
		return "refused: " + code(clip(bytesText(err.Error())))
	}
	var out []string
	for _, k := range r.keys {
		value := "missing"
		for _, sec := range []string{"r", "relay", ""} {
			if s, err := f.GetSection(sec); err == nil && s.HasKey(k) {
				value = valueText(s.Key(k).String())
				break
			}
		}
		out = append(out, k+" "+value)
	}
	return strings.Join(out, "<br>")
}

// ours shows the literal values, before the rules of each key.
func ours(t *testing.T, r rowD) string {
	d, bad := decode([]byte(r.raw))
	s, broken := scan("stk.ini", d)
	if bad != "" || broken != nil {
		return "refused: " + cell(bad)
	}
	st, err := build(s.entries)
	require.NoError(t, err)
	var out []string
	for _, name := range r.keys {
		value := "missing"
		v, line := st.find(name)
		for _, e := range s.entries { // keys of other programs are scanned, not kept
			if lookupKey(name) == nil && e.key == name {
				v, line = e.value, e.line
			}
		}
		if line > 0 {
			if k := lookupKey(name); k != nil && k.Plain {
				v = cutComment(v)
			}
			value = code(strings.ReplaceAll(v, "\uF00E", `\uF00E`)) // private use: nothing to see
		}
		out = append(out, name+" "+value)
	}
	return strings.Join(out, "<br>")
}

// bytesText shows bytes as in a Go string, with backslashes that are written
// in the file left alone and long runs cut.
func bytesText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		n := 1
		for i+n < len(s) && s[i+n] == s[i] {
			n++
		}
		one := fmt.Sprintf(`\x%02X`, s[i])
		switch c := s[i]; {
		case c == '\r':
			one = `\r`
		case c == '\n':
			one = `\n`
		case c == '\\':
			one = `\\`
		case c >= ' ' && c < 0x7F:
			one = string(c)
		}
		if n >= 8 {
			fmt.Fprintf(&b, "%s…×%d…", one, n)
			i += n - 1
			continue
		}
		b.WriteString(one)
	}
	return b.String()
}

// valueText shows a value of the other reader; its backslashes are single, as
// they are in the value.
func valueText(s string) string {
	if s == "" {
		return "empty"
	}
	return code(strings.ReplaceAll(bytesText(s), `\\`, `\`))
}

func clip(s string) string {
	if len(s) > 90 {
		return s[:90] + "…"
	}
	return s
}

func code(s string) string {
	s = strings.ReplaceAll(s, "|", `\|`)
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\\", `\\`, "<", "&lt;", "`", "\\`", "*", `\*`).Replace(s)
}

// The rows of the comparison cover every row D of the field cases.
func TestDocs_EveryCaseIsCompared(t *testing.T) {
	have := map[string]bool{}
	for _, r := range rowsD {
		have[r.id] = true
	}
	for _, id := range strings.Fields("D01 D02 D03 D04 D05 D06 D07 D08 D09 D10 D11 D13 D15 D17") {
		require.True(t, have[id], id)
	}
}
