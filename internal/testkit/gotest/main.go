// Command gotest runs "go test" with the arguments it is given and tells while
// it runs what is under way, which "go test" keeps to itself until a package
// ends.
//
// It prints what "go test" prints: a line for each package, and the whole output
// of a test that failed. With -v it prints all output. Beside that it
//
//   - names the tests that have been running longest, after each 20 s without a line,
//   - repeats the lines "NOT SHOWN: …" that tests wrote, and each skipped test as one,
//   - ends with the count of tests, and fails if there was none: a misspelled -run
//     shows nothing.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

func main() {
	args := os.Args[1:]
	cmd := exec.Command(goTool(), append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest: start go test:", err)
		os.Exit(2)
	}
	r := newReport(os.Stdout, slices.Contains(args, "-v"))
	follow(r, out, time.NewTicker(time.Second).C)
	failed := cmd.Wait()
	if err := r.close(); failed == nil {
		failed = err
	}
	if failed != nil {
		if _, exit := errors.AsType[*exec.ExitError](failed); !exit {
			fmt.Fprintln(os.Stderr, "gotest:", failed)
		}
		os.Exit(1)
	}
}

// goTool is the go command to use: $GO, or the one on the PATH.
func goTool() string {
	if g := os.Getenv("GO"); g != "" {
		return g
	}
	return "go"
}

// follow feeds the events read from out to r until out ends, and tells it the
// time at each tick.
func follow(r *report, out io.Reader, tick <-chan time.Time) {
	events := make(chan event)
	go func() {
		defer close(events)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				e := event{Action: "output", Output: string(line)} // what is no event is output
				_ = json.Unmarshal(line, &e)
				events <- e
			}
			if err != nil {
				return
			}
		}
	}()
	for {
		select {
		case e, more := <-events:
			if !more {
				return
			}
			r.add(e)
		case now := <-tick:
			r.tick(now)
		}
	}
}
