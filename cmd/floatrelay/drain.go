package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newDrainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "drain",
		Short: "Keep this PC from leading until undrain (hands over if it leads)",
		Args:  noArgs,
		RunE: runE(func(cmd *cobra.Command, _ []string) error {
			c, err := a.changer(cmd)
			if err != nil {
				return err
			}
			if err := c.Drain(cmd.Context()); err != nil {
				return fmt.Errorf("drain refused: %w", err)
			}
			return a.done("drained: this PC will not lead until 'floatrelay undrain', restarts included")
		}),
	}
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
