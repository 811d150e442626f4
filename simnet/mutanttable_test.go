package simnet

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// table is where the seed that catches each mutant is recorded.
const table = "testdata/mutants.txt"

// caught is one line of the table. Seed 0 says that so many worlds of that mode
// were searched in vain: only a script catches it.
type caught struct {
	name  string
	mode  Mode
	seed  uint64
	tried int    // seeds tried until it was caught
	check string // the check that caught it
}

// readTable returns the recorded worlds by mutant.
func readTable(t *testing.T) map[string]caught {
	known := map[string]caught{}
	b, err := os.ReadFile(table)
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		require.Len(t, f, 5, "%s: %q", table, line)
		require.NoError(t, knownMode(f[1]), "%s: %q", table, line)
		seed, err := strconv.ParseUint(f[2], 10, 64)
		require.NoError(t, err)
		tried, err := strconv.Atoi(f[3])
		require.NoError(t, err)
		known[f[0]] = caught{f[0], Mode(f[1]), seed, tried, f[4]}
	}
	return known
}
