package daemon

import (
	"os"
	"testing"

	"github.com/convertfw/floatrelay/internal/standin"
	"github.com/convertfw/floatrelay/relayproc"
)

// TestMain lets the test binary be the guard and the stand-in relay of the
// daemons under test, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case relayproc.GuardArg:
			os.Exit(relayproc.RunGuard(os.Stdin, os.Stdout, CarryOutWill))
		case relayproc.InitArg:
			os.Exit(relayproc.RunInit(os.Args[2:]))
		case leaveArg:
			os.Exit(leave(os.Args[2:]))
		case "standin":
			os.Exit(standin.Main(os.Args[2:], os.Getenv))
		}
	}
	os.Exit(m.Run())
}
