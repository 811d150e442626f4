package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
)

func newWatchCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Follow what happens until interrupted (one line per event)",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			c, err := a.changer(cmd) // who proves the token has a place that no stranger takes
			if err != nil {
				if c, err = a.reader(cmd); err != nil {
					return err
				}
			}
			return c.Watch(cmd.Context(), func(ev localapi.Event) error {
				if a.json {
					return a.printJSON(ev)
				}
				return a.print(a.eventLine(ev))
			})
		}),
	}
}

func (a *app) eventLine(ev localapi.Event) string {
	mark := " "
	if ev.Warn {
		mark = "!"
	}
	station := ""
	if ev.Station != "" {
		station = clean(ev.Station) + ": "
	}
	return fmt.Sprintf("%s %s %-7s %s%s\n", ev.Time.Format(time.DateTime), mark, clean(ev.Kind), station, clean(a.eventText(ev)))
}

// eventText is what happened, in the language of whoever runs the command.
func (a *app) eventText(ev localapi.Event) string {
	if ev.Fact.IsZero() {
		return ev.Text
	}
	return a.lang.Say(ev.Fact, ev.Because...)
}
