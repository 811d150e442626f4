package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func newDoctorCommand(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find out what keeps this PC from working",
		Args:  noArgs,
		RunE: runE(func(*cobra.Command, []string) error {
			return errors.New("this build has no doctor")
		}),
	}
}
