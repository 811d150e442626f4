package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// strictTopics makes "help" and "completion", which cobra brings along, refuse
// what they do not know: cobra prints a help text for it and exits with 0, and
// a script takes that text for what it asked for.
func strictTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, helpOn
		case "completion":
			c.Args, c.RunE = nil, shellWanted
		}
	}
}

// helpOn prints the help of the command that args name.
func helpOn(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return usageError(cmd.Root(), "no help on %q: there is no such command", strings.Join(args, " "))
	}
	topic.InitDefaultHelpFlag()
	topic.InitDefaultVersionFlag()
	return topic.Help()
}

func shellWanted(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, "no completion for %q: there is one for bash, zsh, fish and powershell", args[0])
	}
	return usageError(cmd, "completion needs one of: bash, zsh, fish, powershell")
}

// successors offers the stations a handoff may name. Where none can be asked
// for it offers nothing: a shell has no place for errors.
func (a *app) successors(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	c, err := a.reader(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	m, err := c.Members(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	sortMembers(m)
	var out []string
	for _, x := range m.Members {
		if mayTakeOver(m, x) {
			out = append(out, clean(x.Station)+"\t"+clean(x.Addr))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func mayTakeOver(m localapi.Members, x localapi.Member) bool {
	return !x.Off() && x.Eligible && x.Priority > 0 && !leads(m, x) && x.Station != ""
}
