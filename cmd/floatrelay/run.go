package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/daemon"
	"github.com/convertfw/floatrelay/internal/logging"
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

// oneThread keeps Go code on one thread at a time. A daemon is a few short bursts
// of work between long pauses; spreading each over several threads wakes all of
// them and costs a fifth more. Calls that block, such as those of the share, are
// on threads of their own all the same. GOMAXPROCS in the environment is obeyed.
func oneThread() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// serve reads the configuration and lives until ctx ends. started is told once
// the daemon can be asked, before it does anything else.
func (a *app) serve(ctx context.Context, console io.Writer, started func(*daemon.Daemon)) error {
	_, loaded, err := a.load()
	if err != nil {
		return configError(err)
	}
	cfg := loaded.Config
	log, err := logging.New(logging.Options{Level: cfg.LogLevel, Console: console, File: cfg.LogFile})
	if err != nil {
		return configError(err)
	}
	defer log.Close()
	warn(log, loaded)
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program's own path: %w", err)
	}
	d, err := daemon.Open(ctx, cfg, daemon.Options{
		Version: currentVersion().Version, Log: log,
		Guard: relayproc.Command{Path: self, Args: []string{relayproc.GuardArg}},
	})
	if err != nil {
		return err
	}
	defer d.Close()
	oneThread()
	started(d)
	service.Notify("READY=1")
	defer context.AfterFunc(ctx, func() { service.Notify("STOPPING=1") })()
	return d.Run(ctx)
}

func warn(log *logging.Logger, loaded *config.Loaded) {
	for _, w := range loaded.Warnings {
		log.Warn(w.String())
	}
}
