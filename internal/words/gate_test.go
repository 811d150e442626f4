package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sentences are the fields that people read, and in which no program may look
// for anything.
var sentences = []string{"Note", "Text", "Why", "Cause", "Reason", "Do", "LastEnd"}

// mayCompare are the exceptions, by file, and why each is none.
var mayCompare = map[string]string{
	"internal/config":             "an error of stk.ini is no reason of the lease",
	"cmd/floatrelay/configcmd.go": "the text of a setting is its value",
}

// readers are the functions that look into a text.
var readers = []string{"HasPrefix", "HasSuffix", "Contains", "ContainsAny", "Cut", "CutPrefix", "CutSuffix", "TrimPrefix", "TrimSuffix",
	"ReplaceAll", "Replace", "Index", "Split", "Fields", "EqualFold", "MatchString", "FindString", "FindStringSubmatch", "ReplaceAllString"}

// readBack returns what a file decides by a sentence.
func readBack(files *token.FileSet, tree *ast.File) (out []string) {
	add := func(n ast.Node, what string) { out = append(out, files.Position(n.Pos()).String()+": "+what) }
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fn, ok := n.Fun.(*ast.SelectorExpr)
			if ok && slices.Contains(readers, fn.Sel.Name) && slices.ContainsFunc(n.Args, sentence) {
				add(n, fn.Sel.Name)
			}
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (sentence(n.X) && words(n.Y) || sentence(n.Y) && words(n.X)) {
				add(n, n.Op.String())
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && sentence(n.Tag) && slices.ContainsFunc(n.Body.List, func(s ast.Stmt) bool {
				return slices.ContainsFunc(s.(*ast.CaseClause).List, words)
			}) {
				add(n, "switch")
			}
		}
		return true
	})
	return out
}

// sentence reports a field that people read, whatever is done to it first.
func sentence(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		_, call := e.X.(*ast.CallExpr)
		return slices.Contains(sentences, e.Sel.Name) && !call
	case *ast.CallExpr:
		return slices.ContainsFunc(e.Args, sentence)
	}
	return false
}

// words reports a literal text that is not empty.
func words(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && lit.Value != `""`
}

// Never turn a fact into a sentence and read it back: whoever rewords it would
// change what a PC of another version answers.
func TestNobodyReadsASentenceBack(t *testing.T) {
	files, n := token.NewFileSet(), 0
	var found []string
	require.NoError(t, filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, _ := filepath.Rel("../..", path)
		for _, place := range []string{filepath.ToSlash(name), filepath.ToSlash(filepath.Dir(name))} {
			if mayCompare[place] != "" {
				return nil
			}
		}
		tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		n++
		found = append(found, readBack(files, tree)...)
		return nil
	}))
	require.Empty(t, found, "compare codes instead (see package reason)")
	require.Greater(t, n, 200, "files looked at")
}

func TestReadBack_SeesEachWay(t *testing.T) {
	for body, caught := range map[string]bool{
		`strings.HasPrefix(ev.Text, "took the lease")`:         true,
		`strings.Contains(strings.ToLower(x.Note), "drained")`: true,
		`re.FindStringSubmatch(m.Note) != nil`:                 true,
		`x.Why == "token differs"`:                             true,
		`"token differs" != x.Why`:                             true,
		`x.Why == ""`:                                          false,
		`ev.Cause == DownDeadline`:                             false,
		`strings.HasPrefix(x.Name, "a")`:                       false,
	} {
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, "x.go", "package x\nfunc f() bool { return "+body+" }", 0)
		require.NoError(t, err)
		require.Equal(t, caught, len(readBack(files, tree)) > 0, body)
	}
}
