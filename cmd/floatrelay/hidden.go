package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newGuardCommand is what the daemon starts to own the relay process.
func newGuardCommand(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:                "guard",
		Short:              "Own the relay process (started by the daemon)",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: runE(func(*cobra.Command, []string) error {
			return errors.New("this build has no guard")
		}),
	}
}

// newStandinCommand is the small relay used by the demo and the tests.
func newStandinCommand(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:                "standin",
		Short:              "Run the built-in stand-in relay",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: runE(func(*cobra.Command, []string) error {
			return errors.New("this build has no stand-in relay")
		}),
	}
}
