// Command floatrelay keeps exactly one relay running in a site: it runs on
// every PC, elects the one that runs the relay, and tells where it is.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
)

func main() {
	if code, ok := hidden(os.Args[1:]); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	code := Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}

// The exit codes scripts rely on.
const (
	exitOK       = 0 // yes, or done
	exitNo       = 1 // no, or failed
	exitUsage    = 2 // wrong usage or configuration
	exitNoDaemon = 3 // no daemon reachable
)

// Main runs one command line and returns its exit code. ctx ends when the user
// or the system wants the program to end; env is the environment as KEY=value.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	a := &app{ctx: ctx, in: stdin, out: stdout, err: stderr, env: env}
	a.speak("")
	root := newRoot(a)
	root.SetArgs(args)
	return a.report(root.ExecuteContext(ctx))
}
