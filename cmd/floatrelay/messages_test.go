package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
)

// notTheProduct are folders whose messages no operator sees in a log: tools and
// stand-ins of tests, the doctor (doctor.md has a test of its own).
var notTheProduct = []string{
	"internal/bench", "internal/demo", "internal/dist", "internal/doctor", "internal/sitetest",
	"internal/standin", "internal/station", "internal/testkit/faulty", "internal/testkit/sharetest", "lease/smb/sambatest",
	"gossip/memnet", "simnet", "e2e", "docs",
}

// needNoRow are warnings without a row of their own, and why.
var needNoRow = map[string]string{}

// needNoCure are codes that explain themselves: what is seen in the history, is
// well again, or is a part of another line.
var needNoCure = []reason.Code{
	reason.Note, reason.Starting, reason.LastSeen, reason.RoleIs, reason.RoleFollows, reason.RoleOwnLease, reason.RoleChanged,
	reason.LeaseHeld, reason.LeaseMoved, reason.LeaseGiven, reason.RelayUp, reason.RelayIsStopped, reason.RelayIsDown,
	reason.RelayStarted, reason.RelayReady, reason.ViewBack, reason.RenewalBack, reason.SpaceBack, reason.TokensAgree,
	reason.ShareProbe, reason.ShareReadOnly, reason.PortReserved, reason.RelayExeUnfit, reason.APIOpen, // what the system says
}

// Every code that members, status, the log or the event log may show is in
// operations.md as English has it.
func TestOperations_ExplainsEveryCode(t *testing.T) {
	docs := documented(t)
	var missing []string
	for _, code := range reason.Codes() {
		if slices.Contains(needNoCure, code) {
			continue
		}
		pattern := words.English.Pattern(code)
		core := strings.TrimPrefix(strings.TrimPrefix(pattern, "stepping down: "), "the lease ran out (")
		if !slices.ContainsFunc(docs, func(d string) bool { return d == pattern || explains(d, core) }) {
			missing = append(missing, string(code)+": "+pattern)
		}
	}
	require.Empty(t, missing, "a row in docs/operations.md")
}

// said is one warning of the program, as the documents write it.
type said struct{ at, text string }

// warnings collects the literals of all calls that log at warn or error, or that
// report a line as a warning.
func warnings(t *testing.T) (out []said) {
	t.Helper()
	files := token.NewFileSet()
	require.NoError(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel("../..", path)
		if err == nil && e.IsDir() && slices.Contains(notTheProduct, filepath.ToSlash(name)) {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if text := warningOf(call); text != "" {
					out = append(out, said{files.Position(call.Pos()).String(), text})
				}
			}
			return true
		})
		return nil
	}))
	return out
}

// warningOf returns the text of a call that warns, with … for what varies.
func warningOf(call *ast.CallExpr) string {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	arg := call.Args[0]
	switch fn.Sel.Name {
	case "Warn", "Error":
	case "say", "report", "Say", "Report":
		flag, ok := arg.(*ast.Ident)
		if !ok || flag.Name != "true" || len(call.Args) < 2 {
			return ""
		}
		arg = call.Args[1]
	default:
		return ""
	}
	return literal(arg)
}

// literal is the constant part of a text, … for the rest.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return verb.ReplaceAllString(text, "…")
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	case *ast.CallExpr:
		if fn, ok := e.Fun.(*ast.SelectorExpr); ok && fn.Sel.Name == "Sprintf" && len(e.Args) > 0 {
			return literal(e.Args[0])
		}
	}
	return "…"
}

// documented are the messages of operations.md.
func documented(t *testing.T) (out []string) {
	t.Helper()
	doc, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "\n## Messages\n")
	require.True(t, found)
	for line := range strings.Lines(table) {
		if cell, _, ok := strings.Cut(line, " | "); ok {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
				out = append(out, m[1])
			}
		}
	}
	return out
}

// explains reports whether a documented message is this text, or the part of it
// that tells it from others.
func explains(doc, text string) bool {
	parts := messageParts(doc)
	for n, part := range parts {
		before, rest, ok := strings.Cut(text, part)
		if !ok || n == 0 && before != "" && !strings.HasPrefix(doc, "…") {
			return false
		}
		text = rest
	}
	return len(parts) > 0
}

// Every warning of the program is in operations.md, with its cause and its cure.
func TestOperations_ExplainsEveryWarning(t *testing.T) {
	docs := documented(t)
	all := warnings(t)
	require.Greater(t, len(all), 20)
	var missing []string
	used := map[string]bool{}
	for _, w := range all {
		if len(messageParts(w.text)) == 0 {
			continue // what was made elsewhere
		}
		if _, ok := needNoRow[w.text]; ok {
			used[w.text] = true
			continue
		}
		if !slices.ContainsFunc(docs, func(d string) bool { return explains(d, w.text) }) {
			missing = append(missing, w.at+": "+w.text)
		}
	}
	require.Empty(t, missing, "a row in docs/operations.md, or a reason in needNoRow")
	for text := range needNoRow {
		require.True(t, used[text], "no warning says %q any more", text)
	}
}
