package simnet

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

var simJudge = flag.Bool("sim.judge", false, "answer the questions on standard input: how TestMutants speaks with a broken build")

// TestMain refuses flags that name nothing, before a test believes them.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := knownMode(*simMode); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if *simJudge {
		if err := answerAll(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// knownMode returns an error for a mode that no seed expands into.
func knownMode(name string) error {
	known := append(slices.Clone(Modes), Noise, Failover, Restore)
	if name == "" || slices.Contains(known, Mode(name)) {
		return nil
	}
	return fmt.Errorf("-sim.mode=%s: no such mode; there are %v", name, known)
}

// question asks how one world ends: that of a seed, or that of a script.
type question struct {
	Script string
	Mode   Mode
	Seed   uint64
}

// judge answers a question with the check that failed, or "nothing". Each judge
// has one build of the machine, sound or broken.
type judge func(question) (string, error)

// here is the judge of this very build, with a breakage of the world or "".
func here(defect string) judge {
	return func(q question) (string, error) {
		if q.Script == "" {
			opt := Expand(q.Seed, q.Mode)
			opt.Defect = defect
			return checkOf(New(opt).Run()), nil
		}
		i := slices.IndexFunc(tales, func(x tale) bool { return x.name == q.Script })
		if i < 0 {
			return "", fmt.Errorf("no script %q", q.Script)
		}
		s := tales[i].script()
		s.opt.Defect = defect
		_, err := tales[i].tell(s)
		return checkOf(err), nil
	}
}

// checkOf names the check that an error violates, in one word.
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

// answerAll answers questions of another process until it has no more.
func answerAll(in io.Reader, out io.Writer) error {
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		check, err := here("")(q)
		if err != nil {
			return err
		}
		if err := answers.Encode(check); err != nil {
			return err
		}
	}
}
