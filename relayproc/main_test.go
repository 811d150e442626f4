package relayproc

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/convertfw/floatrelay/internal/standin"
)

// willEnv names a file to which the test guard's last will writes its payload.
const willEnv = "TEST_WILL_FILE"

// TestMain lets the test binary play every process of the real tree.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case GuardArg:
			sabotageGuard()
			os.Exit(RunGuard(os.Stdin, os.Stdout, testWill))
		case InitArg:
			os.Exit(RunInit(os.Args[2:]))
		case "standin":
			os.Exit(standin.Main(os.Args[2:], os.Getenv))
		case "witness":
			beWitness()
		case "daemon":
			os.Exit(testDaemon(os.Args[2:]))
		}
		if play := oddRoles[os.Args[1]]; play != nil {
			play()
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(witnessed{m})
}

func testWill(_ context.Context, payload []byte) error {
	path := os.Getenv(willEnv)
	if path == "" {
		return fmt.Errorf("no file for the last will")
	}
	return os.WriteFile(path, payload, 0o600)
}
