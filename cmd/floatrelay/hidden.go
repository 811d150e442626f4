package main

import (
	"os"

	"github.com/convertfw/floatrelay/internal/daemon"
	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/relayproc"
)

// hidden runs the commands the daemon starts for itself. They never reach the
// command line parser: a guard has a deadline to keep from its first moment,
// and takes its signals as it sees fit.
func hidden(args []string) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch args[0] {
	case relayproc.GuardArg:
		return relayproc.RunGuard(os.Stdin, os.Stdout, daemon.CarryOutWill), true
	case relayproc.InitArg:
		return relayproc.RunInit(args[1:]), true
	case "standin":
		return standin.Main(args[1:], os.Getenv), true
	}
	return 0, false
}
