package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/relayproc"
)

func newConfigCommand(a *app) *cobra.Command {
	var check, template bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show every setting in effect and where it comes from",
		Args:  noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			switch {
			case template:
				return config.WriteTemplate(a.out)
			case a.json:
				return a.configJSON(check)
			case check:
				return a.configCheck()
			}
			return a.configShow()
		}),
	}
	cmd.Flags().BoolVar(&check, "check", false, "list problems and warnings only; exit 2 if there is a problem")
	cmd.Flags().BoolVar(&template, "template", false, "print a commented stk.ini with every key")
	cmd.MarkFlagsMutuallyExclusive("check", "template")
	return cmd
}

// configShow prints what was read even if part of it is wrong: that is when
// somebody looks.
func (a *app) configShow() error {
	path, loaded, err := a.load()
	if loaded != nil {
		var b strings.Builder
		fmt.Fprintf(&b, "%s (%s)\n\n", path, orDash(loaded.Encoding))
		if len(loaded.Values) > 0 {
			_ = loaded.Effective(&b) // a Builder never fails
		}
		if printErr := a.print(b.String()); printErr != nil {
			return printErr
		}
		for _, w := range loaded.Warnings {
			if !w.Foreign {
				a.note("warning: %s", w)
			}
		}
	}
	if err != nil {
		return configError(err)
	}
	return nil
}

func (a *app) configCheck() error {
	path, loaded, err := a.load()
	if errors.Is(err, errInterrupted) {
		return configError(err)
	}
	var b strings.Builder
	if loaded != nil { // otherwise the error names it
		fmt.Fprintln(&b, path)
	}
	if bad := a.checkRelayProgram(path, loaded); bad != nil {
		return configError(bad)
	}
	problems := config.WriteCheck(&b, loaded, err)
	if printErr := a.print(b.String()); printErr != nil {
		return printErr
	}
	return problemCount(problems)
}

// checkRelayProgram adds a warning if this PC could never run a relay. It is no
// problem of the file: a PC may be meant to follow only, and a stk.ini is often
// checked on another PC.
func (a *app) checkRelayProgram(path string, loaded *config.Loaded) error {
	if loaded == nil {
		return nil
	}
	exe, known := loaded.Get("RELAY_EXE")
	priority, _ := loaded.Get("RELAY_PRIORITY")
	if !known || priority.Text == "0" {
		return nil
	}
	text, err := unlessEnded(a.ctx, func() (string, error) { return relayProgramWarning(exe), nil })
	if err != nil {
		return fmt.Errorf("look at RELAY_EXE=%s: %w", exe.Text, err)
	}
	if text != "" {
		w := config.Warning{File: path, Text: text}
		w.Line, _ = strconv.Atoi(exe.Origin[strings.LastIndexByte(exe.Origin, ':')+1:])
		loaded.Warnings = append(loaded.Warnings, w)
	}
	return nil
}

func relayProgramWarning(exe config.Value) string {
	switch {
	case exe.Text == "" && exe.Origin == "default":
		return "RELAY_EXE is not set: this PC will never run the relay (RELAY_PRIORITY=0 says that this is meant)"
	case exe.Text == "" || !filepath.IsAbs(exe.Text):
		return "" // refused already, or a path of another system
	}
	st, err := os.Stat(exe.Text)
	switch {
	case err != nil:
		return fmt.Sprintf("RELAY_EXE=%s is not there: this PC will not run the relay until it is", exe.Text)
	case st.IsDir():
		return fmt.Sprintf("RELAY_EXE=%s is a folder: this PC will not run the relay", exe.Text)
	}
	if why := relayproc.NotExecutable(st); why != "" {
		return fmt.Sprintf("RELAY_EXE=%s %s: this PC will not run the relay until it is", exe.Text, why)
	}
	return ""
}

// configJSON is what config --json prints; with --check without the values.
type configJSON struct {
	File     string         `json:"file"`
	Encoding string         `json:"encoding"`
	Values   []config.Value `json:"values"`
	Problems []string       `json:"problems"`
	Warnings []string       `json:"warnings"`
}

func (a *app) configJSON(check bool) error {
	path, loaded, err := a.load()
	if errors.Is(err, errInterrupted) {
		return configError(err)
	}
	if check {
		if bad := a.checkRelayProgram(path, loaded); bad != nil {
			return configError(bad)
		}
	}
	out := configJSON{File: path, Values: []config.Value{}, Problems: []string{}, Warnings: []string{}}
	if err != nil {
		out.Problems = strings.Split(err.Error(), "\n")
	}
	if loaded != nil {
		out.Encoding = loaded.Encoding
		if !check {
			out.Values = append(out.Values, loaded.Values...)
		}
		for _, w := range loaded.Warnings {
			if check || !w.Foreign {
				out.Warnings = append(out.Warnings, w.String())
			}
		}
	}
	if err := a.printJSON(out); err != nil {
		return err
	}
	return problemCount(len(out.Problems))
}

// problemCount ends a listing that has already named each problem.
func problemCount(n int) error {
	switch n {
	case 0:
		return nil
	case 1:
		return &exitError{code: exitUsage, err: fmt.Errorf("the configuration has a problem")}
	}
	return &exitError{code: exitUsage, err: fmt.Errorf("the configuration has %d problems", n)}
}
