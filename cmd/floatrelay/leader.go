package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/reason"
)

func newLeaderCommand(a *app) *cobra.Command {
	var fallback bool
	cmd := &cobra.Command{
		Use:   "leader",
		Short: "Print the address of the relay; exit 1 if nobody leads or it keeps failing",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			return a.leader(cmd, fallback)
		}),
	}
	cmd.Flags().BoolVar(&fallback, "fallback", false, "print RELAY_HOST if nobody leads, the relay keeps failing or no daemon answers")
	return cmd
}

func (a *app) leader(cmd *cobra.Command, fallback bool) error {
	c, err := a.reader(cmd)
	if err != nil {
		return err
	}
	l, ok, err := c.Leader(cmd.Context())
	if err == nil && ok {
		if err = a.failing(cmd.Context(), c, l); err == nil {
			return a.printLeader(l)
		}
	}
	switch {
	case fallback:
		return a.fallback(err)
	case err != nil:
		return err
	}
	return errors.New("nobody leads at present")
}

// failing says of a relay that is not ready whether it fails again and again,
// which is no start that somebody could wait for. The daemon that leads knows
// best; of another PC its note tells.
func (a *app) failing(ctx context.Context, c *localapi.Client, l localapi.Leader) error {
	if l.Ready {
		return nil
	}
	m, err := c.Members(ctx)
	if err != nil {
		return nil //nolint:nilerr // who leads is known all the same
	}
	for _, x := range m.Members {
		if !leads(m, x) {
			continue
		}
		if r, ok := reason.Find(x.Reasons, reason.RelayFailing); ok {
			return fmt.Errorf("%s: %s", clean(l.Station), clean(a.lang.Say(r)))
		}
	}
	return nil
}

func (a *app) printLeader(l localapi.Leader) error {
	if a.json {
		return a.printJSON(l)
	}
	if !l.Ready {
		a.note("the relay of %s is starting", clean(l.Station))
	}
	return a.print(leaderAddr(l) + "\n")
}

func leaderAddr(l localapi.Leader) string { return net.JoinHostPort(l.IP, strconv.Itoa(l.Port)) }

// fallback names the existing relay of the site. why is nil if a daemon
// answered that nobody leads.
func (a *app) fallback(why error) error {
	_, loaded, err := a.load()
	if err != nil {
		if why != nil {
			a.note("%v", why)
		}
		return configError(err)
	}
	cfg := loaded.Config
	switch {
	case cfg.RelayHost != "":
	case why != nil: // who leads is not known, only that this PC cannot tell
		return fmt.Errorf("%w; RELAY_HOST names no other relay", why)
	default:
		return errors.New("nobody leads at present, and RELAY_HOST names no other relay")
	}
	host, port := cfg.RelayHost, cfg.RelayPort
	if h, p, err := net.SplitHostPort(host); err == nil {
		host = h
		port, _ = strconv.Atoi(p) // config checked it
	}
	if why != nil {
		a.note("%v; this is RELAY_HOST, the relay of the site may be elsewhere", why)
	} else {
		a.note("nobody leads at present; this is RELAY_HOST")
	}
	l := localapi.Leader{KMSN: cfg.KMSN, IP: host, Port: port}
	if a.json {
		return a.printJSON(l)
	}
	return a.print(leaderAddr(l) + "\n")
}
