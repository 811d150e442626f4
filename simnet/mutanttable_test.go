package simnet

import (
	"fmt"
	"os"
	"slices"
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

// row is one line of the printed table.
type row struct {
	caught
	scripts []string
}

// tableOf prints for each mutant the world and the scripts that catch it, and
// how many worlds the search tried until then.
func tableOf(rows []row) string {
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	var b strings.Builder
	b.WriteString("| mutant | mode and seed | tries | caught by | scripts that catch it |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		world, tries, check := "–", "–", "–"
		if r.mode != "" && r.seed == 0 {
			tries = fmt.Sprintf("not in %d (%s)", r.tried, r.mode)
		} else if r.mode != "" {
			world, tries = fmt.Sprintf("%s %d", r.mode, r.seed), strconv.Itoa(r.tried)
			check = strings.ReplaceAll(r.check, "-", " ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.name, world, tries, check, strings.Join(r.scripts, ", "))
	}
	return b.String()
}

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
