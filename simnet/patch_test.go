package simnet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A mutant is one small patch of the protocol's code: what it breaks in plain
// English, then a unified diff. It is applied to copies, in Go, so a machine
// needs no patch program; `git apply` reads the same files.
const patches = "testdata/mutants"

// hunk is one change of one file: the lines that must be there, and those that
// take their place.
type hunk struct{ file, old, new string }

// readPatch returns the hunks of a patch, whose files are named from the
// module's root.
func readPatch(text string) (hunks []hunk, err error) {
	file := ""
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		inside := len(hunks) > 0 && file != ""
		switch {
		case strings.HasPrefix(line, "--- "):
			file = ""
		case strings.HasPrefix(line, "+++ b/"):
			file = strings.TrimPrefix(line, "+++ b/")
		case strings.HasPrefix(line, "@@ ") && file != "":
			hunks = append(hunks, hunk{file: file})
		case inside && strings.HasPrefix(line, "-"):
			hunks[len(hunks)-1].old += line[1:] + "\n"
		case inside && strings.HasPrefix(line, "+"):
			hunks[len(hunks)-1].new += line[1:] + "\n"
		case inside && strings.HasPrefix(line, " "):
			hunks[len(hunks)-1].old += line[1:] + "\n"
			hunks[len(hunks)-1].new += line[1:] + "\n"
		case inside:
			return nil, fmt.Errorf("line %d, %q, is no line of a patch", n+1, line)
		}
	}
	if len(hunks) == 0 {
		return nil, fmt.Errorf("it changes nothing")
	}
	return hunks, nil
}

// patched returns the changed files of the module at root, by their name from
// there. Line numbers do not matter: each hunk's old lines must be found once.
func patched(root, text string) (map[string]string, error) {
	hunks, err := readPatch(text)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, h := range hunks {
		if _, ok := files[h.file]; !ok {
			b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(h.file)))
			if err != nil {
				return nil, err
			}
			files[h.file] = "\n" + string(b)
		}
		first, last := strings.Index(files[h.file], "\n"+h.old), strings.LastIndex(files[h.file], "\n"+h.old)
		if first < 0 || first != last {
			return nil, fmt.Errorf("%s does not hold these lines exactly once; write the patch anew:\n%s", h.file, h.old)
		}
		files[h.file] = files[h.file][:first+1] + h.new + files[h.file][first+1+len(h.old):]
	}
	for name := range files {
		files[name] = files[name][1:]
	}
	return files, nil
}

// protocolMutants names every patch.
func protocolMutants() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(patches, "*.patch"))
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".patch")
	}
	return files, err
}

// patchedBy returns the files that a mutant changes, in its version.
func patchedBy(root, name string) (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join(patches, name+".patch"))
	if err != nil {
		return nil, fmt.Errorf("no mutant %q: %w", name, err)
	}
	files, err := patched(root, string(b))
	if err != nil {
		return nil, fmt.Errorf("the patch of the mutant %s does not apply any more: %w", name, err)
	}
	return files, nil
}
