package arbiter

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var ruleRow = regexp.MustCompile(`(?m)^//\t(\S+) \| (.+) \| (\S+)$`)

// declared returns every function of this package, methods as Type.name.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			full := fn.Name.Name
			if fn.Recv != nil {
				of := fn.Recv.List[0].Type
				if p, ok := of.(*ast.StarExpr); ok {
					of = p.X
				}
				if id, ok := of.(*ast.Ident); ok {
					full = id.Name + "." + full
				}
			}
			names[full] = true
		}
	}
	return names
}

func TestDoc_TheTableOfRulesNamesWhatExists(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	names := declared(t)
	var rows []string
	for _, r := range ruleRow.FindAllStringSubmatch(string(doc), -1) {
		rows = append(rows, r[1])
		for fn := range strings.SplitSeq(r[2], ", ") {
			require.True(t, names[fn] || names["Machine."+fn], "%s: there is no function %s", r[1], fn)
		}
		require.True(t, r[3] == "-" || names[r[3]], "%s: there is no test %s", r[1], r[3])
	}
	protocol, err := os.ReadFile("../docs/protocol.md")
	require.NoError(t, err)
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^(?:- )?\*\*(A?\d+)\. ?`).FindAllStringSubmatch(string(protocol), -1) {
		want = append(want, m[1])
	}
	require.Equal(t, want, rows, "the rules and additions of docs/protocol.md, in their order")
}
