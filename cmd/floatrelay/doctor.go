package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/doctor"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/service"
	"github.com/convertfw/floatrelay/lease"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps this PC from working; exit 1 on any failure",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			checks := doctor.Checks(a.doctorInput(cmd))
			report := doctor.Run(cmd.Context(), checks, doctor.Limit)
			if err := a.printReport(report); err != nil {
				return err
			}
			if !report.OK {
				return exitCode(exitNo)
			}
			return nil
		}),
	}
}

func (a *app) doctorInput(cmd *cobra.Command) doctor.Input {
	path, loaded, err := a.load()
	in := doctor.Input{Path: path, Loaded: loaded, LoadErr: err}
	if err != nil {
		return in
	}
	in.OpenShare = func() (lease.Share, error) { return openShare(loaded.Config) }
	in.Account = func(dir string) error {
		// Which account the service has is not known here; letters are closed to all.
		return service.CheckHost(service.Plan{LeaseDir: dir, User: `.\any`})
	}
	in.Status = func(ctx context.Context) (localapi.Status, error) {
		c, err := a.reader(cmd)
		if err != nil {
			return localapi.Status{}, err
		}
		return c.Status(ctx)
	}
	in.Survey = func(ctx context.Context) (localapi.Survey, error) {
		c, err := a.changer(cmd)
		if err != nil {
			return localapi.Survey{}, err
		}
		return c.Survey(ctx)
	}
	return in
}

func (a *app) printReport(r doctor.Report) error {
	if a.json {
		return a.printJSON(r)
	}
	return a.print(reportText(r))
}

// reportText has one line per finding and, under what is not right, one that
// says what to do.
func reportText(r doctor.Report) string {
	var b strings.Builder
	for _, x := range r.Results {
		fmt.Fprintf(&b, "%-8s %-10s %s\n", x.Level, x.Check, clean(x.Text))
		if x.Do != "" {
			fmt.Fprintf(&b, "%-8s %-10s -> %s\n", "", "", clean(x.Do))
		}
	}
	fmt.Fprintf(&b, "\n%s, %s\n", count(r.Failures, "failure"), count(r.Warnings, "warning"))
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
