//go:build mutants

package simnet

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
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

// caught is one line of the table. Seed 0 says that so many worlds of that mode
// were searched in vain: only a script catches it.
type caught struct {
	name  string
	mode  Mode
	seed  uint64
	tried int    // seeds tried until it was caught
	check string // the check that caught it
}

// TestMutants shows that the checkers can fail: every deliberate breakage of
// the protocol, and of the world's own adapters, is caught in its recorded
// world, in the scripts that name it, or in both; and the same worlds without
// the breakage keep every promise.
func TestMutants(t *testing.T) {
	known := readTable(t)
	var rows []row
	for _, name := range allMutants() {
		if *simOnly != "" && name != *simOnly {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := row{caught: known[name]}
			if *simFind {
				if c, ok := record(r.caught, name); ok {
					r.caught, known[name] = c, c
					writeTable(t, known)
				}
			}
			r.name = name
			if r.seed != 0 {
				requireCaught(t, r.caught)
			}
			r.scripts = scriptsThatCatch(t, name)
			require.True(t, r.seed != 0 || len(r.scripts) > 0, "nothing catches %s: search a seed with -sim.find, or tell a tale", name)
			rows = append(rows, r)
		})
	}
	printed := tableOf(rows)
	t.Logf("%d mutants, all caught\n%s", len(rows), printed)
	if *simOnly == "" {
		doc, err := os.ReadFile("../docs/verification.md")
		require.NoError(t, err)
		require.True(t, strings.Contains(string(doc), printed), "docs/verification.md must repeat the table above")
	}
}

// requireCaught replays the recorded world of a mutant, with it and without.
func requireCaught(t *testing.T, c caught) {
	t.Helper()
	err := live(c.seed, c.mode, c.name)
	require.Error(t, err, "%s is not caught by %s seed %d any more", c.name, c.mode, c.seed)
	require.Equal(t, c.check, checkOf(err))
	require.NoError(t, live(c.seed, c.mode, ""), "the world itself is broken")
}

// scriptsThatCatch plays the scripts that name a mutant. TestRegression plays
// them without it.
func scriptsThatCatch(t *testing.T, name string) (by []string) {
	t.Helper()
	for _, x := range tales {
		if !slices.Contains(x.mutants, name) {
			continue
		}
		s := x.script()
		breakWorld(s.World, name)
		_, err := x.tell(s)
		require.Error(t, err, "%s is not caught by the script %s", name, x.name)
		require.NotEqual(t, "start", checkOf(err))
		by = append(by, fmt.Sprintf("%s (%s)", x.name, strings.ReplaceAll(checkOf(err), "-", " ")))
	}
	return by
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

func allMutants() []string { return append(arbiter.Mutants(), Defects...) }

// live runs a world with one breakage, or with none.
func live(seed uint64, mode Mode, name string) error {
	w := New(Expand(seed, mode))
	if slices.Contains(Defects, name) { // some break what New builds
		opt := Expand(seed, mode)
		opt.Defect = name
		w = New(opt)
	}
	breakWorld(w, name)
	return w.Run()
}

// breakWorld breaks one thing in a world that has not begun.
func breakWorld(w *World, name string) {
	switch {
	case name == "":
	case slices.Contains(Defects, name):
		w.opt.Defect = name
	default:
		w.opt.Mutant = name
		w.Break(func(m *arbiter.Machine) error { return m.Mutate(name) })
	}
}

// record looks whether the recorded world still catches a mutant, by whatever
// check, and else searches another. It reports whether the table changes.
func record(was caught, name string) (caught, bool) {
	if was.seed != 0 {
		err := live(was.seed, was.mode, name)
		if err != nil && live(was.seed, was.mode, "") == nil {
			changed := checkOf(err) != was.check
			was.check = checkOf(err)
			return was, changed
		}
	}
	return find(name)
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
	if second.name == "" && *simMode != "" {
		second = caught{name, Mode(*simMode), 0, tried, "nothing"}
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
