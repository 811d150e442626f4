package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/internal/daemon"
)

// stateCheck writes where the daemon keeps its identity. The folder is made by
// the daemon, so its absence is no fault.
func stateCheck(cfg config.Config, status ask) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		err := tryState(cfg.StateDir)
		_, none := status(ctx)
		switch {
		case errors.Is(err, fs.ErrPermission) && none == nil:
			tell.OK("STATE_DIR %s is closed to this account; the daemon runs under another one", cfg.StateDir)
			return
		case errors.Is(err, fs.ErrNotExist):
			tell.OK("STATE_DIR %s is not there yet; the daemon makes it", cfg.StateDir)
		case err != nil:
			tell.Fail("give the account that runs floatrelay the right to write there, or set STATE_DIR", "STATE_DIR %s: %v", cfg.StateDir, err)
			return
		default:
			tell.OK("STATE_DIR %s can be written", cfg.StateDir)
		}
		for _, f := range daemon.CheckState(cfg.StateDir, none == nil) {
			if f.Grave {
				tell.Fail(f.Do, "%s", f.Text)
			} else {
				tell.Warn(f.Do, "%s", f.Text)
			}
		}
	}
}

func tryState(dir string) error {
	// Windows calls a path below a file "not found", as if nothing were there.
	if st, err := os.Stat(dir); err == nil && !st.IsDir() {
		return errors.New("it is not a folder")
	}
	f, err := os.CreateTemp(dir, "doctor-*.tmp")
	if err != nil {
		return err
	}
	_, werr := f.WriteString("doctor")
	err = errors.Join(werr, f.Close(), os.Remove(f.Name()))
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(f.Name()), err)
	}
	return nil
}
