//go:build mutants

package simnet

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
)

var (
	simFind = flag.Bool("sim.find", false, "search a seed for every mutant that its recorded one does not catch, and record it")
	simOnly = flag.String("sim.only", "", "only this mutant")
)

// table is where the seed that catches each mutant is recorded.
const table = "testdata/mutants.txt"

// caught is one line of the table.
type caught struct {
	name  string
	mode  Mode
	seed  uint64
	tried int    // seeds tried until it was caught
	check string // the check that caught it
}

// TestMutants shows that the checkers can fail: every deliberate breakage of
// the protocol, and of the world's own adapters, is caught in its recorded
// world, and the same world without the breakage keeps every promise.
func TestMutants(t *testing.T) {
	known := readTable(t)
	for _, name := range allMutants() {
		if *simOnly != "" && name != *simOnly {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c, ok := known[name]
			if *simFind && (!ok || checkOf(live(c.seed, c.mode, name)) != c.check) {
				c, ok = find(name)
				known[name] = c
				if ok {
					writeTable(t, known)
				}
			}
			if where := caughtElsewhere[name]; !ok && where != "" {
				t.Logf("%s: no world found yet; caught by %s, which make mutants runs", name, where)
				return
			}
			require.True(t, ok, "no seed catches %s: search one with -sim.find", name)
			err := live(c.seed, c.mode, name)
			require.Error(t, err, "%s is not caught by %s seed %d any more", name, c.mode, c.seed)
			require.Equal(t, c.check, checkOf(err))
			require.NoError(t, live(c.seed, c.mode, ""), "the world itself is broken")
		})
	}
}

// caughtElsewhere names mutants for which the search has found no world since
// the machine last changed, and the arbiter's own tests that catch them. make
// mutants runs those with the mutant switched on and wants them to fail.
var caughtElsewhere = map[string]string{
	"no-digging":          "arbiter TestRule11_ReadsDownToTheNewestReadableRecord",
	"missing-with-breaks": "arbiter TestScenarios/cold_start",
}

func allMutants() []string { return append(arbiter.Mutants(), Defects...) }

// live runs a world with one breakage.
func live(seed uint64, mode Mode, name string) error {
	opt := Expand(seed, mode)
	if isDefect(name) {
		opt.Defect = name
	} else {
		opt.Mutant = name
	}
	w := New(opt)
	if opt.Mutant != "" {
		w.Break(func(m *arbiter.Machine) error { return m.Mutate(name) })
	}
	return w.Run()
}

func isDefect(name string) bool {
	for _, d := range Defects {
		if d == name {
			return true
		}
	}
	return false
}

// find searches the first world that catches a mutant, going through the modes
// in turn. A world where the mutant merely spoils liveness is the second choice.
func find(name string) (caught, bool) {
	modes := Modes
	if *simMode != "" {
		modes = []Mode{Mode(*simMode)}
	}
	tried, second := 0, caught{}
	for i := range uint64(*simRuns) {
		for _, mode := range modes {
			tried++
			seed := *simFrom + i
			if err := live(seed, mode, name); err != nil && checkOf(err) != "start" && live(seed, mode, "") == nil {
				c := caught{name, mode, seed, tried, checkOf(err)}
				if c.check != "liveness" {
					return c, true
				}
				if second.name == "" {
					second = c
				}
			}
		}
	}
	return second, second.name != ""
}

func checkOf(err error) string {
	if err == nil {
		return "nothing"
	}
	var v *Violation
	if errors.As(err, &v) {
		return strings.ReplaceAll(v.Check, " ", "-")
	}
	return err.Error()
}

func readTable(t *testing.T) map[string]caught {
	known := map[string]caught{}
	b, err := os.ReadFile(table)
	if err != nil {
		return known
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 5 || f[0] == "#" {
			continue
		}
		seed, err := strconv.ParseUint(f[2], 10, 64)
		require.NoError(t, err)
		tried, err := strconv.Atoi(f[3])
		require.NoError(t, err)
		known[f[0]] = caught{f[0], Mode(f[1]), seed, tried, f[4]}
	}
	return known
}

func writeTable(t *testing.T, known map[string]caught) {
	var b strings.Builder
	b.WriteString("# mutant mode seed tried check\n")
	var names []string
	for name, c := range known {
		if c.name != "" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		c := known[name]
		fmt.Fprintf(&b, "%-28s %-8s %6d %6d %s\n", c.name, c.mode, c.seed, c.tried, c.check)
	}
	require.NoError(t, os.MkdirAll("testdata", 0o755))
	require.NoError(t, os.WriteFile(table, []byte(b.String()), 0o644))
}
