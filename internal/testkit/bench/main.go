// Command bench measures whole sites on this machine and prints markdown
// tables: how long a failover takes for every fault, and what an idle daemon
// costs. It writes to standard output only.
//
// The figures are those of real daemons, guards and stand-in relays, all on
// one host: they contain what that host needs to start processes, and suffer
// from whatever else it does.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/internal/demo"
)

// options are what the command line says.
type options struct {
	exe    string
	runs   int
	nodes  int
	faults string
	idle   time.Duration
	demo   func(context.Context, demo.Options) (demo.Result, error)
}

func main() {
	opt := options{demo: demo.Run}
	flag.StringVar(&opt.exe, "exe", "", "the floatrelay binary to measure")
	flag.IntVar(&opt.runs, "runs", 10, "failovers per fault; 0 leaves them out")
	flag.IntVar(&opt.nodes, "nodes", 3, "stations, 2 to 9")
	flag.StringVar(&opt.faults, "faults", "crash,freeze,stop,kill", "which faults")
	flag.DurationVar(&opt.idle, "idle", 30*time.Second, "how long an idle site is watched; 0 leaves it out")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, opt, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, opt options, out io.Writer) error {
	if opt.exe == "" {
		return fmt.Errorf("measure what: name the binary with -exe (go build -o floatrelay ./cmd/floatrelay)")
	}
	exe, err := filepath.Abs(opt.exe) // every daemon has a folder of its own
	if err != nil {
		return fmt.Errorf("find the binary: %w", err)
	}
	opt.exe = exe
	if opt.runs > 0 {
		if err := failovers(ctx, opt, out); err != nil {
			return err
		}
	}
	if opt.idle > 0 {
		return idle(ctx, opt, out)
	}
	return nil
}

// failovers prints a row per fault.
func failovers(ctx context.Context, opt options, out io.Writer) error {
	t := table{head: []string{"fault", "runs", "taken over after (median)", "relay ready after (median)", "p99", "max", "two relays at once (ms)"}}
	var worst time.Duration
	for _, f := range strings.Split(opt.faults, ",") {
		row, overlap, err := failover(ctx, opt, demo.Fault(f))
		if err != nil {
			return err
		}
		t.rows = append(t.rows, row)
		worst = max(worst, overlap)
	}
	if err := t.print(out, fmt.Sprintf("Failover, %d stations, default settings", opt.nodes)); err != nil {
		return err
	}
	if worst > 0 {
		return fmt.Errorf("two relays ran at once for %v", worst)
	}
	return nil
}

// oneRun bounds one failover.
const oneRun = 60 * time.Second

// failover returns the row of a fault, and for how long two relays ran at once.
func failover(ctx context.Context, opt options, f demo.Fault) (row []string, overlap time.Duration, err error) {
	var ready, taken []time.Duration
	for i := range opt.runs {
		one, cancel := context.WithTimeout(ctx, oneRun)
		r, err := opt.demo(one, demo.Options{Exe: opt.exe, Nodes: opt.nodes, Fault: f, Out: io.Discard})
		cancel()
		if err != nil {
			return nil, 0, fmt.Errorf("run %d of %s: %w", i+1, f, err)
		}
		overlap = max(overlap, r.Overlap)
		if err := r.Err(); err != nil && r.Overlap == 0 {
			return nil, 0, fmt.Errorf("run %d of %s: %w", i+1, f, err)
		}
		ready, taken = append(ready, r.Ready), append(taken, r.Takeover)
	}
	return []string{
		string(f), fmt.Sprint(opt.runs), seconds(quantile(taken, 0.5)), seconds(quantile(ready, 0.5)),
		seconds(quantile(ready, 0.99)), seconds(quantile(ready, 1)), fmt.Sprint(overlap.Milliseconds()),
	}, overlap, nil
}
