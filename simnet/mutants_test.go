//go:build mutants

package simnet

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	simFind  = flag.Bool("sim.find", false, "search a seed for every mutant that its recorded one does not catch, and record it")
	simOnly  = flag.String("sim.only", "", "only this mutant")
	simUnits = flag.Bool("sim.units", false, "print which of the arbiter's own tests notice each mutant of the protocol")
)

// TestMutants shows that the checkers can fail: every deliberate breakage of
// the protocol, and of the world's own adapters, is caught in its recorded
// world, in the scripts that name it, or in both; and the same worlds without
// the breakage keep every promise. A mutant of the protocol is a build of its
// own, which this one puts its questions to.
func TestMutants(t *testing.T) {
	names, err := protocolMutants()
	require.NoError(t, err)
	names = append(names, Defects...)
	if *simOnly != "" {
		require.Contains(t, names, *simOnly, "-sim.only: no such mutant")
		names = []string{*simOnly}
	}
	known := readTable(t)
	var rows []row
	var mu sync.Mutex // known, rows
	t.Run("each", func(t *testing.T) {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				broken := judgeOf(t, name)
				mu.Lock()
				r := row{caught: known[name]}
				mu.Unlock()
				if *simFind {
					if c, ok := record(t, r.caught, name, broken); ok {
						r.caught = c
						mu.Lock()
						known[name] = c
						writeTable(t, known)
						mu.Unlock()
					}
				}
				r.name = name
				if r.seed != 0 {
					requireCaught(t, r.caught, broken)
				}
				r.scripts = scriptsThatCatch(t, name, broken)
				require.True(t, r.seed != 0 || len(r.scripts) > 0, "nothing catches %s: search a seed with -sim.find, or tell a tale", name)
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, r)
			})
		}
	})
	printed := tableOf(rows)
	t.Logf("%d of %d mutants caught\n%s", len(rows), len(names), printed)
	if *simOnly == "" {
		doc, err := os.ReadFile("../docs/verification.md")
		require.NoError(t, err)
		require.True(t, strings.Contains(string(doc), printed), "docs/verification.md must repeat the table above")
	}
}

// requireCaught replays the recorded world of a mutant, with it and without.
func requireCaught(t *testing.T, c caught, broken judge) {
	t.Helper()
	world := question{Mode: c.mode, Seed: c.seed}
	require.Equal(t, c.check, ask(t, broken, world), "%s is not caught by %s %d any more as it was", c.name, c.mode, c.seed)
	require.Equal(t, "nothing", ask(t, here(""), world), "the world itself is broken")
}

// scriptsThatCatch plays the scripts that name a mutant. TestRegression plays
// them without it.
func scriptsThatCatch(t *testing.T, name string, broken judge) (by []string) {
	t.Helper()
	for _, x := range tales {
		if !slices.Contains(x.mutants, name) {
			continue
		}
		check := ask(t, broken, question{Script: x.name})
		require.NotContains(t, []string{"nothing", "start"}, check, "%s is not caught by the script %s", name, x.name)
		by = append(by, fmt.Sprintf("%s (%s)", x.name, strings.ReplaceAll(check, "-", " ")))
	}
	return by
}

func ask(t *testing.T, j judge, q question) string {
	t.Helper()
	check, err := j(q)
	require.NoError(t, err)
	return check
}

// record looks whether the recorded world still catches a mutant, by whatever
// check, and else searches another. It reports whether the table changes.
func record(t *testing.T, was caught, name string, broken judge) (caught, bool) {
	t.Helper()
	if was.seed != 0 {
		world := question{Mode: was.mode, Seed: was.seed}
		check := ask(t, broken, world)
		if check != "nothing" && ask(t, here(""), world) == "nothing" {
			changed := check != was.check
			was.check = check
			return was, changed
		}
	}
	return find(t, name, broken)
}

// find searches the first world that catches a mutant, going through the modes
// in turn. A world where the mutant merely spoils liveness is the second choice.
func find(t *testing.T, name string, broken judge) (caught, bool) {
	t.Helper()
	modes := Modes
	if *simMode != "" {
		modes = []Mode{Mode(*simMode)}
	}
	tried, second := 0, caught{}
	for i := range uint64(*simRuns) {
		for _, mode := range modes {
			tried++
			world := question{Mode: mode, Seed: *simFrom + i}
			check := ask(t, broken, world)
			if check == "nothing" || check == "start" || ask(t, here(""), world) != "nothing" {
				continue
			}
			c := caught{name, mode, world.Seed, tried, check}
			if check != "liveness" {
				return c, true
			}
			if second.name == "" {
				second = c
			}
		}
	}
	if second.name == "" && *simMode != "" {
		second = caught{name, Mode(*simMode), 0, tried, "nothing"}
	}
	return second, second.name != ""
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
