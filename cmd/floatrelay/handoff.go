package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// handoffPoll is how often --wait looks.
const handoffPoll = 50 * time.Millisecond

func newHandoffCommand(a *app) *cobra.Command {
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "handoff [STATION]",
		Short: "Give the lease to another PC (the best one, or STATION)",
		Args:  atMostOneStation,

		ValidArgsFunction: a.successors,
		RunE: runE(func(cmd *cobra.Command, args []string) error {
			c, err := a.changer(cmd)
			if err != nil {
				return err
			}
			to := ""
			if len(args) == 1 {
				to = args[0]
			}
			return a.handoff(cmd.Context(), c, to, wait, timeout)
		}),
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "return when the new relay is ready")
	cmd.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long --wait waits")
	return cmd
}

func (a *app) handoff(ctx context.Context, c *localapi.Client, to string, wait bool, timeout time.Duration) error {
	before, _, err := c.Leader(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := c.Handoff(ctx, to); err != nil {
		return fmt.Errorf("handoff refused: %w", err)
	}
	if !wait {
		return a.done("handoff begun")
	}
	after, err := awaitLeader(ctx, c, before, timeout)
	if err != nil {
		return err
	}
	if to != "" && !a.named(ctx, c, after, to) {
		return fmt.Errorf("%s took over instead of %s; see 'floatrelay history' there", clean(after.Station), to)
	}
	if a.json {
		return a.printJSON(after)
	}
	return a.print(fmt.Sprintf("%s leads, relay ready at %s after %s\n",
		clean(after.Station), leaderAddr(after), milliseconds(time.Since(begin).Milliseconds())))
}

// awaitLeader waits for a relay of a later epoch than that of before to be
// ready.
func awaitLeader(ctx context.Context, c *localapi.Client, before localapi.Leader, timeout time.Duration) (localapi.Leader, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	seen, found, failed := before, true, error(nil)
	for {
		l, ok, err := c.Leader(ctx)
		if err == nil && ok && l.Ready && l.Epoch > before.Epoch {
			return l, nil
		}
		if ctx.Err() == nil { // a look that was cut short says nothing
			seen, found, failed = l, ok, err
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return l, errors.New("interrupted while waiting; the handoff goes on")
			}
			return l, fmt.Errorf("no new relay was ready within %v: %s", timeout, waiting(seen, found, failed, before.Epoch))
		case <-time.After(handoffPoll):
		}
	}
}

// waiting says what the last look showed.
func waiting(l localapi.Leader, ok bool, err error, epoch uint64) string {
	switch {
	case err != nil:
		return err.Error()
	case !ok:
		return "nobody leads; see NOTE in 'floatrelay members'"
	case l.Epoch <= epoch:
		return clean(l.Station) + " still leads; 'floatrelay history' says why"
	}
	return clean(l.Station) + " leads, but its relay does not answer yet"
}

// named reports whether who leads is whom the handoff named: by station,
// whatever its case, or by member id.
func (a *app) named(ctx context.Context, c *localapi.Client, l localapi.Leader, to string) bool {
	if strings.EqualFold(l.Station, to) {
		return true
	}
	m, err := c.Members(ctx)
	if err != nil {
		return false
	}
	for _, x := range m.Members {
		node, _, _ := strings.Cut(x.ID, "/")
		if x.Station == l.Station && (x.ID == to || node == to) {
			return true
		}
	}
	return false
}

func atMostOneStation(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError(cmd, "handoff takes one STATION, got %d", len(args))
	}
	return nil
}

// done reports a change that has no other output.
func (a *app) done(text string) error {
	if a.json {
		return a.printJSON(struct {
			OK bool `json:"ok"`
		}{true})
	}
	return a.print(text + "\n")
}
