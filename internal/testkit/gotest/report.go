package main

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"
)

// event is one line of "go test -json".
type event struct {
	Time    time.Time
	Action  string // start, run, pause, cont, output, pass, fail, skip, build-output, build-fail
	Package string
	Test    string // empty for the package itself
	Output  string
}

// silence is how long nothing may be printed before the running tests are named.
const silence = 20 * time.Second

// module is taken off the names of packages that are named as running.
const module = "github.com/convertfw/floatrelay/"

// report prints what a run of "go test" has to tell.
type report struct {
	out     io.Writer
	verbose bool

	output   map[[2]string][]string // of each test that has not ended, by package and name
	running  map[[2]string]time.Time
	printed  time.Time // when a line was last printed
	notShown []string
	count    map[string]int // ended tests, by action
}

func newReport(out io.Writer, verbose bool) *report {
	return &report{
		out: out, verbose: verbose,
		output: map[[2]string][]string{}, running: map[[2]string]time.Time{}, count: map[string]int{},
	}
}

func (r *report) print(text string) {
	r.printed = time.Now()
	_, _ = io.WriteString(r.out, text)
}

func (r *report) add(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "run", "cont":
		r.running[key] = e.Time
	case "pause": // it waits for its turn
		delete(r.running, key)
	case "output", "build-output":
		r.note(e)
		switch {
		case r.verbose || e.Action == "build-output" || e.Test == "" && isVerdict(e.Output):
			r.print(e.Output)
		default:
			r.output[key] = append(r.output[key], e.Output)
		}
	case "pass", "skip", "fail":
		r.end(key, e)
	}
}

// note keeps a line that tells what a test could not show.
func (r *report) note(e event) {
	if _, what, found := strings.Cut(e.Output, "NOT SHOWN: "); found {
		r.notShown = append(r.notShown, strings.TrimSpace(what))
	}
}

// isVerdict reports whether line is the one that ends a package.
func isVerdict(line string) bool {
	for _, start := range []string{"ok  \t", "FAIL\t", "?   \t"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

func (r *report) end(key [2]string, e event) {
	lines := r.output[key]
	delete(r.output, key)
	delete(r.running, key)
	if e.Action == "fail" {
		r.print(strings.Join(lines, ""))
	}
	if e.Test == "" {
		return
	}
	r.count[e.Action]++
	if e.Action == "skip" {
		r.notShown = append(r.notShown, fmt.Sprintf("%s %s was skipped", short(e.Package), e.Test))
	}
}

// tick names the tests that have been running longest, if nothing was printed
// for a while.
func (r *report) tick(now time.Time) {
	if r.printed.IsZero() {
		r.printed = now
	}
	if now.Sub(r.printed) < silence || len(r.running) == 0 {
		return
	}
	keys := make([][2]string, 0, len(r.running))
	for k := range r.running {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return r.running[keys[i]].Before(r.running[keys[j]]) })
	line := fmt.Sprintf("... %d tests have passed; running:", r.count["pass"])
	for _, k := range keys[:min(3, len(keys))] {
		line += fmt.Sprintf(" %s %s (%d s)", short(k[0]), k[1], int(now.Sub(r.running[k]).Seconds()))
	}
	r.print(line + "\n")
}

// close prints the end of the report. It returns an error if no test ran.
func (r *report) close() error {
	for key, lines := range r.output { // the binary died, or hung until its timeout
		if key[1] != "" {
			r.print(strings.Join(lines, ""))
		}
	}
	for _, what := range r.notShown {
		r.print("NOT SHOWN: " + what + "\n")
	}
	r.print(fmt.Sprintf("%d passed, %d failed, %d skipped\n", r.count["pass"], r.count["fail"], r.count["skip"]))
	if r.count["pass"]+r.count["fail"] == 0 {
		return errors.New("no test ran: does -run name one that exists?")
	}
	return nil
}

func short(pkg string) string { return strings.TrimPrefix(pkg, module) }
