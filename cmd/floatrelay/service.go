package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/service"
)

// passwordEnv holds the password of the account where no command line should
// show it.
const passwordEnv = config.EnvPrefix + "SERVICE_PASSWORD"

func newServiceCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Install, remove, start or stop floatrelay as a service of this PC",
		RunE: runE(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "help" {
				return cmd.Help()
			}
			if len(args) > 0 {
				return usageError(cmd, "unknown command %q for %q", args[0], cmd.CommandPath())
			}
			return usageError(cmd, "service needs one of: install, uninstall, start, stop, status")
		}),
	}
	cmd.AddCommand(
		newServiceInstallCommand(a),
		a.serviceCommand("uninstall", "Stop the service and remove it", "uninstalled", service.Uninstall),
		a.serviceCommand("start", "Start the service", "started", service.Start),
		a.serviceCommand("stop", "Stop the service; it hands the lease over first", "stopped", service.Stop),
		newServiceStatusCommand(a),
	)
	return cmd
}

func (a *app) serviceCommand(use, short, done string, f func() error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			if err := f(); err != nil {
				return err
			}
			return a.done(done)
		}),
	}
}

// installing is what service install was told.
type installing struct {
	user, password         string
	start, firewall, print bool
}

func newServiceInstallCommand(a *app) *cobra.Command {
	var in installing
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install the service, to be started with the system",
		Long: "Install the service, to be started with the system. It reads the stk.ini this\n" +
			"command reads, wherever it is started from. The password may also stand in the\n" +
			"environment variable " + passwordEnv + ".",
		Args: noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error { return a.install(cmd, in) }),
	}
	f := cmd.Flags()
	f.StringVar(&in.user, "user", "", `account to run as: NAME, DOMAIN\NAME (default: LocalSystem, or root)`)
	f.StringVar(&in.password, "password", "", "password of that account (Windows)")
	f.BoolVar(&in.start, "start", false, "start it at once")
	f.BoolVar(&in.firewall, "firewall", false, "open the firewall of this PC as well; see 'floatrelay firewall'")
	f.BoolVar(&in.print, "print", false, "only print what would be installed")
	return cmd
}

func (a *app) install(cmd *cobra.Command, in installing) error {
	plan, cfg, err := a.plan(in)
	if err != nil {
		return err
	}
	if err := service.Check(plan); err != nil {
		var account *service.AccountError
		if errors.As(err, &account) {
			return &exitError{exitUsage, fmt.Errorf("not installed: %w", err), account.Do}
		}
		return &exitError{code: exitUsage, err: err}
	}
	if in.print {
		return a.printPlan(plan, in, cfg)
	}
	if err := service.Install(plan); err != nil {
		return err
	}
	if in.firewall {
		if err := a.openFirewall(cmd.Context(), cfg); err != nil {
			return fmt.Errorf("the service is installed, but: %w", err)
		}
	}
	if !in.start {
		return a.done("installed; 'floatrelay service start' starts it")
	}
	if err := service.Start(); err != nil {
		return fmt.Errorf("the service is installed, but: %w", err)
	}
	return a.done("installed and started; 'floatrelay members' shows the site")
}

// plan fixes the paths.
func (a *app) plan(in installing) (service.Plan, config.Config, error) {
	path, loaded, err := a.loadForService()
	if err != nil {
		return service.Plan{}, config.Config{}, configError(err)
	}
	a.noteMissingPassword(loaded.Config)
	exe, err := os.Executable()
	if err != nil {
		return service.Plan{}, config.Config{}, fmt.Errorf("find this program's own path: %w", err)
	}
	if in.password == "" && in.user != "" {
		in.password, _ = a.lookupEnv(passwordEnv)
	}
	c := loaded.Config
	return service.Plan{
		Exe: exe, Config: path, User: accountName(in.user), Password: in.password,
		LeaseDir: c.LeaseDir, RelayExe: c.RelayExe, StateDir: c.StateDir, LogFile: c.LogFile,
	}, c, nil
}

func newServiceStatusCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Ask the service manager; exit 0 if the service runs",
		Args:  noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			state, err := service.Status()
			if errors.Is(err, service.ErrNotInstalled) {
				state, err = "not installed", nil
			}
			if err != nil {
				return err
			}
			if err := a.printState(string(state)); err != nil {
				return err
			}
			if state != service.Running {
				return exitCode(exitNo)
			}
			return nil
		}),
	}
}

func (a *app) printState(state string) error {
	if a.json {
		return a.printJSON(map[string]string{"service": state})
	}
	return a.print(state + "\n")
}
