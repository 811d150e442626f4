package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/history"
	"github.com/convertfw/floatrelay/internal/localapi"
)

func newHistoryCommand(a *app) *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show what happened on this PC, with reasons and durations",
		Long: "Show what happened on this PC, oldest first: who had the lease and why, for\n" +
			"how long, when the relay ran, and what was reported. The newest " + fmt.Sprint(history.Limit) + " events are\n" +
			"kept. Without a daemon the file in STATE_DIR is read.",
		Args: noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			if last < 0 {
				return usageError(cmd, "--last %d: must not be negative", last)
			}
			events, err := a.history(cmd)
			if err != nil {
				return err
			}
			if last > 0 {
				events = events[max(0, len(events)-last):]
			}
			return a.printHistory(events)
		}),
	}
	cmd.Flags().IntVar(&last, "last", 0, "show only the newest N events (0: all)")
	return cmd
}

// history asks the daemon and, if none runs, reads its file.
func (a *app) history(cmd *cobra.Command) ([]localapi.Past, error) {
	c, err := a.reader(cmd)
	if err != nil {
		return nil, err
	}
	events, err := c.History(cmd.Context())
	if !errors.Is(err, localapi.ErrNoDaemon) {
		return events, err
	}
	_, loaded, bad := a.load()
	if bad != nil || a.apiAddr != "" {
		return nil, err // whose STATE_DIR it would be is not known
	}
	return a.historyFile(loaded.Config.StateDir)
}

// historyFile is what the last daemon wrote to its STATE_DIR.
func (a *app) historyFile(dir string) ([]localapi.Past, error) {
	events, err := unlessEnded(a.ctx, func() ([]localapi.Past, error) {
		if _, err := os.Stat(filepath.Join(dir, history.FileName)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no history yet: no daemon has written one to %s", dir)
		}
		return history.Read(dir)
	})
	switch {
	case errors.Is(err, errInterrupted):
		return nil, fmt.Errorf("read the history in %s: %w", dir, err)
	case err != nil:
		return nil, err
	}
	a.note("no daemon answers; this is what the last one wrote to %s", dir)
	return events, nil
}

func (a *app) printHistory(events []localapi.Past) error {
	if a.json {
		if events == nil {
			events = []localapi.Past{}
		}
		return a.printJSON(localapi.History{Events: events})
	}
	var b strings.Builder
	for _, p := range events {
		b.WriteString(a.pastLine(p))
	}
	return a.print(b.String())
}

// pastLine is an event with what watch has no room for.
func (a *app) pastLine(p localapi.Past) string {
	mark := " "
	if p.Warn {
		mark = "!"
	}
	text := clean(a.eventText(p.Event))
	if why := a.pastReason(p); why != "" {
		text += " (" + clean(why) + ")"
	}
	if p.LastedMS > 0 {
		text += ", after " + milliseconds(p.LastedMS)
	}
	return fmt.Sprintf("%s %s %-6s %s\n", p.Time.Local().Format(time.DateTime), mark, clean(p.Kind), text)
}

// pastReason is the reason of what happened, where the line does not have it yet.
func (a *app) pastReason(p localapi.Past) string {
	if p.Reason == "" || p.Fact.IsZero() {
		return p.Reason
	}
	return a.lang.Why(p.Fact, p.Because)
}
