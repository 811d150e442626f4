package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/service"
)

func newFirewallCommand(a *app) *cobra.Command {
	var apply, remove bool
	cmd := &cobra.Command{
		Use:   "firewall",
		Short: "Print the commands that open this PC's firewall, or carry them out",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			_, loaded, err := a.load()
			if err != nil {
				return configError(err)
			}
			rules := firewallRules(loaded.Config, remove)
			if !apply {
				return a.printRules(rules)
			}
			carryOut := service.Apply
			if remove {
				carryOut = service.TakeBack
			}
			if err := carryOut(cmd.Context(), rules); err != nil {
				return err
			}
			return a.done("done")
		}),
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "carry them out")
	cmd.Flags().BoolVar(&remove, "remove", false, "the commands that close it again")
	return cmd
}

func firewallRules(cfg config.Config, remove bool) []service.Rule {
	ports := service.Ports{Gossip: cfg.GossipPort, Relay: cfg.RelayPort}
	if remove {
		return service.Close(ports)
	}
	return service.Open(ports)
}

func (a *app) printRules(rules []service.Rule) error {
	lines := make([]string, len(rules))
	for i, r := range rules {
		lines[i] = r.String()
	}
	if a.json {
		return a.printJSON(map[string][]string{"commands": lines})
	}
	return a.print(strings.Join(append(lines, ""), "\n"))
}

// openFirewall opens what service install --firewall promised.
func (a *app) openFirewall(ctx context.Context, cfg config.Config) error {
	return service.Apply(ctx, firewallRules(cfg, false))
}
