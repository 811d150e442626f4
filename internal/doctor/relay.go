package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/convertfw/floatrelay/internal/config"
)

func relayCheck(cfg config.Config) func(context.Context, Tell) {
	return func(_ context.Context, tell Tell) {
		if cfg.RelayPriority == 0 {
			tell.OK("RELAY_PRIORITY is 0: this PC never leads and needs no relay program")
			return
		}
		if cfg.RelayExe == "" {
			tell.Fail("set RELAY_EXE to the relay program, or RELAY_PRIORITY=0 if this PC shall never lead", "RELAY_EXE is not set")
			return
		}
		st, err := os.Stat(cfg.RelayExe)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			tell.Fail("install the relay program there, or correct RELAY_EXE", "there is no %s", cfg.RelayExe)
		case err != nil:
			tell.Fail("let the account that runs floatrelay read it", "cannot look at RELAY_EXE: %v", err)
		case !st.Mode().IsRegular():
			tell.Fail("name the program file itself in RELAY_EXE", "%s is not a file", cfg.RelayExe)
		case st.Size() == 0:
			tell.Fail("install the relay program again", "%s is empty", cfg.RelayExe)
		default:
			if do, text := notRunnable(cfg.RelayExe, st); text != "" {
				tell.Fail(do, "%s %s", cfg.RelayExe, text)
				return
			}
			tell.OK("%s can be run", cfg.RelayExe)
		}
	}
}
