package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/demo"
)

// demoTime bounds a demo: it ends by itself, whatever happens.
const demoTime = 28 * time.Second

func newDemoCommand(a *app) *cobra.Command {
	opt := demo.Options{Nodes: 3, Fault: demo.Crash}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a failover on this PC, with real daemons and a stand-in relay",
		Long: "Show a failover on this PC: a few daemons on loopback with a share of their\n" +
			"own elect a leader, the leader is hurt, and the timeline is printed. Needs no\n" +
			"configuration, ends by itself in under 30 seconds and leaves nothing behind.\n" +
			"Exits with 1 if the promise was broken.",
		Args: noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), cmd, opt) }),
	}
	cmd.Flags().IntVar(&opt.Nodes, "nodes", opt.Nodes, "how many stations, 2 to 9")
	cmd.Flags().StringVar((*string)(&opt.Fault), "fault", string(opt.Fault), "what happens to the leader: crash, freeze, stop or kill")
	return cmd
}

func (a *app) demo(ctx context.Context, cmd *cobra.Command, opt demo.Options) error {
	opt.Fault = demo.Fault(strings.ToLower(string(opt.Fault)))
	if !knownFault(opt.Fault) {
		return usageError(cmd, "no fault is called %q: want crash, freeze, stop or kill", opt.Fault)
	}
	if opt.Nodes < 2 || opt.Nodes > 9 {
		return usageError(cmd, "--nodes %d is outside 2 to 9", opt.Nodes)
	}
	var err error
	if opt.Exe, err = demo.Self(); err != nil {
		return err
	}
	opt.Out = a.out
	if a.json {
		opt.Out = io.Discard
	}
	ctx, cancel := context.WithTimeout(ctx, demoTime)
	defer cancel()
	res, err := demo.Run(ctx, opt)
	if err != nil {
		return err
	}
	if a.json {
		if err := a.printJSON(res); err != nil {
			return err
		}
	}
	if err := res.Err(); err != nil {
		return fmt.Errorf("the promise was broken: %w", err)
	}
	if !a.json {
		return a.print("the promise was kept\n")
	}
	return nil
}

func knownFault(f demo.Fault) bool { return slices.Contains(demo.Faults, f) }
