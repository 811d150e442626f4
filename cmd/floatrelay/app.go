package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/words"
)

// app is what every command shares: the streams, the environment and the
// global flags.
type app struct {
	ctx      context.Context // ends when the user or the system wants the program to end
	in       io.Reader
	out, err io.Writer
	env      []string

	configPath string // --config; empty means: look in the usual places
	apiAddr    string // --api; empty means: API_ADDR of the configuration
	json       bool   // --json
	lang       words.Lang
}

// exitError is an error that knows its exit code and what to do about it.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// usageError is for what the user typed.
func usageError(cmd *cobra.Command, format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...), "see '" + cmd.CommandPath() + " --help'"}
}

// configError is for what stands in stk.ini or the environment.
func configError(err error) error {
	if errors.Is(err, errInterrupted) {
		return &exitError{code: exitNo, err: err}
	}
	hint := "see 'floatrelay config --check'"
	if errors.Is(err, config.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		hint = "'floatrelay config --template' prints one to fill in"
	}
	return &exitError{exitUsage, err, hint}
}

// exitCode makes an error of the exit code of a command that has said
// everything itself.
func exitCode(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code, err: errors.New("")}
}

// noArgs is cobra.NoArgs in words that fit commands without subcommands.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, "%s takes no argument, got %q", cmd.Name(), args[0])
	}
	return nil
}

// runE makes a command's errors carry their exit code: whatever reaches report
// without one comes from cobra and is wrong usage.
func runE(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		var coded *exitError
		switch {
		case err == nil || errors.As(err, &coded):
			return err
		case errors.Is(err, localapi.ErrSilent):
			return &exitError{code: exitNoDaemon, err: err} // report knows what to do about it
		case errors.Is(err, localapi.ErrNoDaemon):
			return &exitError{exitNoDaemon, err, "start it with 'floatrelay run', or name its address with --api"}
		}
		return &exitError{code: exitNo, err: err}
	}
}

// report prints an error, one line per problem, with a hint below, and returns
// the exit code.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	var coded *exitError
	if !errors.As(err, &coded) {
		text, _, _ := strings.Cut(err.Error(), "\n") // cobra adds a whole usage text to some
		coded = &exitError{exitUsage, errors.New(text), "see 'floatrelay --help'"}
	}
	if text := coded.Error(); text != "" {
		for _, problem := range strings.Split(text, "\n") {
			fmt.Fprintln(a.err, "floatrelay: "+problem)
		}
	}
	if coded.hint == "" && errors.Is(err, localapi.ErrSilent) {
		coded.hint = a.frozenHint()
	}
	if coded.hint != "" {
		fmt.Fprintln(a.err, "  "+coded.hint)
	}
	return coded.code
}

// note prints a remark that is no error and no output.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.err, "floatrelay: "+format+"\n", args...)
}

// print writes a whole output at once, so that a reader never sees half.
func (a *app) print(text string) error {
	if _, err := io.WriteString(a.out, text); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// printJSON writes v as one line.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode the output: %w", err)
	}
	return a.print(b.String())
}
