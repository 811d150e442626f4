//go:build mutants

package simnet

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
