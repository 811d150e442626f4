package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/daemon"
	"github.com/convertfw/floatrelay/internal/logging"
	"github.com/convertfw/floatrelay/internal/procs"
	"github.com/convertfw/floatrelay/internal/service"
	"github.com/convertfw/floatrelay/relayproc"
)

func newRunCommand(a *app) *cobra.Command {
	var managed bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon of this PC in the foreground",
		Long: "Run the daemon of this PC in the foreground. Ctrl-C, or closing the\n" +
			"window, hands the lease over before the program ends.",
		Args: noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			if managed || service.Managed() {
				return a.runManaged()
			}
			return a.serve(cmd.Context(), a.err, func(*daemon.Daemon) {})
		}),
	}
	cmd.Flags().BoolVar(&managed, service.ManagedFlag, false, "answer the Windows service manager")
	_ = cmd.Flags().MarkHidden(service.ManagedFlag) // for the service's own command line
	return cmd
}

// serve reads the configuration and lives until ctx ends. started is told once
// the daemon can be asked, before it does anything else. A stop while the daemon
// still waits to start is no error: there is nothing to hand over.
func (a *app) serve(ctx context.Context, console io.Writer, started func(*daemon.Daemon)) error {
	o, err := awaitStart(ctx, service.Notify, func() (*opened, error) { return a.open(ctx, console) }, (*opened).close)
	switch {
	case errors.Is(err, errInterrupted):
		return nil
	case err != nil:
		return err
	}
	defer o.close()
	procs.OneThread()
	started(o.daemon)
	defer context.AfterFunc(ctx, func() { service.Notify("STOPPING=1") })()
	return o.daemon.Run(ctx)
}

// opened is a daemon and the log it writes.
type opened struct {
	daemon *daemon.Daemon
	log    *logging.Logger
}

func (o *opened) close() {
	o.daemon.Close()
	o.log.Close()
}

// open waits for the share that stk.ini is on, and for the network.
func (a *app) open(ctx context.Context, console io.Writer) (*opened, error) {
	_, loaded, err := a.load()
	if err != nil {
		return nil, configError(err)
	}
	cfg := loaded.Config
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own path: %w", err)
	}
	log, err := logging.New(logging.Options{Level: cfg.LogLevel, Console: console, File: cfg.LogFile})
	if err != nil {
		return nil, configError(err)
	}
	warn(log, loaded)
	d, err := daemon.Open(ctx, cfg, daemon.Options{
		Version: currentVersion().Version, Log: log,
		Guard: relayproc.Command{Path: self, Args: []string{relayproc.GuardArg}},
	})
	if err != nil {
		log.Close()
		return nil, err
	}
	return &opened{d, log}, nil
}

func warn(log *logging.Logger, loaded *config.Loaded) {
	for _, w := range loaded.Warnings {
		log.Warn(w.String())
	}
}
