package simnet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A change of the protocol's code must take its mutants along.
func TestMutant_EveryPatchApplies(t *testing.T) {
	names, err := protocolMutants()
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		files, err := patchedBy("..", name)
		require.NoError(t, err)
		for file, text := range files {
			b, err := os.ReadFile(filepath.Join("..", file))
			require.NoError(t, err)
			require.NotEqual(t, string(b), text, "%s changes nothing in %s", name, file)
			require.True(t, strings.HasPrefix(file, "arbiter/"), "%s breaks %s, which the protocol does not live in", name, file)
		}
	}
}

func TestMutant_SaysWhatItBreaks(t *testing.T) {
	names, err := protocolMutants()
	require.NoError(t, err)
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(patches, name+".patch"))
		require.NoError(t, err)
		head, _, _ := strings.Cut(string(b), "--- ")
		require.Contains(t, head, ".\n", "%s does not begin with a sentence", name)
	}
}

// The table and the scripts name no mutant that is gone.
func TestMutant_NamesExist(t *testing.T) {
	all, err := protocolMutants()
	require.NoError(t, err)
	all = append(all, Defects...)
	for name := range readTable(t) {
		require.Contains(t, all, name, "%s has a line without a mutant", table)
	}
	for _, x := range tales {
		for _, name := range x.mutants {
			require.Contains(t, all, name, "the script %s is to catch a mutant that does not exist", x.name)
		}
	}
	slices.Sort(all)
	require.Equal(t, slices.Compact(slices.Clone(all)), all, "a name is used twice")
	_, err = patchedBy("..", "no-such-mutant")
	require.ErrorContains(t, err, `no mutant "no-such-mutant"`)
}

func TestPatch_AppliesWhereItsLinesAreFoundOnce(t *testing.T) {
	const text = "What it breaks.\n\n--- a/x.go\n+++ b/x.go\n@@ -9,3 +9,3 @@ func f() {\n a\n-b\n+B\n c\n"
	for name, tc := range map[string]struct{ before, after, err string }{
		"at another line":         {"0\n0\na\nb\nc\n", "0\n0\na\nB\nc\n", ""},
		"at the beginning":        {"a\nb\nc\n", "a\nB\nc\n", ""},
		"gone":                    {"a\nb\nd\n", "", "exactly once"},
		"twice":                   {"a\nb\nc\na\nb\nc\n", "", "exactly once"},
		"the end of another line": {"za\nb\nc\n", "", "exactly once"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte(tc.before), 0o644))
			files, err := patched(dir, text)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, map[string]string{"x.go": tc.after}, files)
		})
	}
	_, err := patched(t.TempDir(), "Only words.\n")
	require.ErrorContains(t, err, "changes nothing")
}
