//go:build mutants

package simnet

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
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

// judgeOf returns a judge whose machine, or world, has one breakage.
func judgeOf(t *testing.T, name string) judge {
	t.Helper()
	if slices.Contains(Defects, name) {
		return here(name)
	}
	overlay := overlayOf(t, name)
	if *simUnits {
		t.Logf("%s is noticed by the arbiter's %v", name, unitsThatNotice(t, overlay))
	}
	exe := filepath.Join(t.TempDir(), "broken.test")
	out, err := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", exe, ".").CombinedOutput()
	require.NoError(t, err, "the mutant %s does not compile:\n%s", name, out)
	return judgeIn(t, exe)
}

// overlayOf writes what a mutant changes into a folder of its own and returns
// the file for go's -overlay that puts it in place.
func overlayOf(t *testing.T, name string) string {
	t.Helper()
	files, err := patchedBy("..", name)
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir, replace := t.TempDir(), map[string]string{}
	for file, text := range files {
		to := filepath.Join(dir, filepath.Base(file))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o644))
		replace[filepath.Join(root, filepath.FromSlash(file))] = to
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	to := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(to, b, 0o644))
	return to
}

// judgeIn starts another build of this test, which answers until the test ends.
func judgeIn(t *testing.T, exe string) judge {
	t.Helper()
	cmd := exec.Command(exe, "-sim.judge")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		assert.NoError(t, in.Close())
		assert.NoError(t, cmd.Wait())
	})
	questions, answers := json.NewEncoder(in), json.NewDecoder(out)
	return func(q question) (check string, err error) {
		if err = questions.Encode(q); err == nil {
			err = answers.Decode(&check)
		}
		return check, err
	}
}

var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

// unitsThatNotice runs the arbiter's own tests on a broken build.
func unitsThatNotice(t *testing.T, overlay string) (tests []string) {
	t.Helper()
	out, err := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "../arbiter").CombinedOutput()
	for _, m := range failedTest.FindAllSubmatch(out, -1) {
		tests = append(tests, string(m[1]))
	}
	require.True(t, err == nil || len(tests) > 0, "the arbiter's tests did not run:\n%s", out)
	return tests
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
