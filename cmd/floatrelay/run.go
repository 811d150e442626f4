package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newRunCommand(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Run the daemon of this PC in the foreground",
		Args:  noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			return errors.New("this build has no daemon")
		}),
	}
}
