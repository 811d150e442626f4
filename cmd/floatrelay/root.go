package main

import (
	"github.com/spf13/cobra"
)

const rootLong = `floatrelay keeps exactly one relay running in a site.

It runs on every PC that shares the site's folder, elects the one that runs the
relay, and replaces it within seconds when that PC dies.

Exit codes: 0 yes or done, 1 no or failed, 2 usage or configuration,
3 no daemon reachable.`

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "floatrelay",
		Short:         "keeps exactly one relay running in a site",
		Long:          rootLong,
		Version:       currentVersion().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		// Suggestions take several lines; an error takes one.
		DisableSuggestions: true,
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	flags := root.PersistentFlags()
	flags.StringVar(&a.configPath, "config", "", "stk.ini to read (default: next to the program, then the usual place of this system)")
	flags.StringVar(&a.apiAddr, "api", "", "address of the daemon to ask (default: API_ADDR of stk.ini)")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError(cmd, "%w", err)
	})
	root.AddCommand(
		newRunCommand(a),
		newDemoCommand(a),
		newMembersCommand(a),
		newLeaderCommand(a),
		newStatusCommand(a),
		newWatchCommand(a),
		newHistoryCommand(a),
		newHandoffCommand(a),
		newDrainCommand(a),
		newUndrainCommand(a),
		newDoctorCommand(a),
		newConfigCommand(a),
		newTokenCommand(a),
		newServiceCommand(a),
		newFirewallCommand(a),
		newVersionCommand(a),
	)
	root.SetVersionTemplate("{{.Version}}\n")
	root.InitDefaultVersionFlag()
	root.Flags().Lookup("version").Usage = "print the version"
	strictTopics(root)
	return root
}
