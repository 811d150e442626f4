package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
)

func newDrainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "drain",
		Short: "Keep this PC from leading until undrain (hands over if it leads and another PC can)",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			c, err := a.changer(cmd)
			if err != nil {
				return err
			}
			if err := c.Drain(cmd.Context()); err != nil {
				return fmt.Errorf("drain refused: %w", err)
			}
			return a.drained(cmd.Context(), c)
		}),
	}
}

const (
	// drainPoll is how often drain looks whether the lease was handed over.
	drainPoll = 50 * time.Millisecond
	// drainPatience is how long a handover may take: the relay's time to end by
	// itself, and a slow share.
	drainPatience = 8 * time.Second
)

// drained says what has come of a drain: a leader gives the lease away only to
// somebody who can take it.
func (a *app) drained(ctx context.Context, c *localapi.Client) error {
	leads, err := leadsOn(ctx, c)
	if err != nil {
		return fmt.Errorf("drained, but what this PC does now is not known: %w", err)
	}
	if a.json {
		return a.printJSON(struct {
			OK    bool `json:"ok"`
			Leads bool `json:"leads"`
		}{true, leads})
	}
	if leads {
		return a.print("drained, but this PC leads on until another PC can: see NOTE in 'floatrelay members'\n")
	}
	return a.print("drained: this PC will not lead until 'floatrelay undrain', restarts included\n")
}

// leadsOn reports whether this PC still leads once it had the time to hand
// over. It does not wait if there is nobody to hand over to.
func leadsOn(ctx context.Context, c *localapi.Client) (bool, error) {
	for end := time.Now().Add(drainPatience); ; {
		s, err := c.Status(ctx)
		if err != nil || s.Role != localapi.RoleLeader {
			return false, err
		}
		m, err := c.Members(ctx)
		if err != nil || !anotherCan(m) || time.Now().After(end) {
			return true, err
		}
		select {
		case <-ctx.Done():
			return true, nil
		case <-time.After(drainPoll):
		}
	}
}

// anotherCan reports whether a member other than this PC could lead.
func anotherCan(m localapi.Members) bool {
	return slices.ContainsFunc(m.Members, func(x localapi.Member) bool {
		return x.ID != m.Self && !x.Off() && x.Eligible && x.Priority > 0
	})
}

func newUndrainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "undrain",
		Short: "Let this PC lead again",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			c, err := a.changer(cmd)
			if err != nil {
				return err
			}
			if err := c.Undrain(cmd.Context()); err != nil {
				return fmt.Errorf("undrain refused: %w", err)
			}
			return a.done("undrained: this PC may lead again")
		}),
	}
}
