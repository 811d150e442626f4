package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/convertfw/floatrelay/internal/oslock"
)

// AlreadyRunningError says that another daemon uses the same STATE_DIR.
type AlreadyRunningError struct {
	Dir string
	PID int // 0 if not known
}

// Error names the daemon in the way.
func (e *AlreadyRunningError) Error() string {
	who := "another floatrelay"
	if e.PID != 0 {
		who = fmt.Sprintf("floatrelay with pid %d", e.PID)
	}
	return fmt.Sprintf("%s already runs with STATE_DIR %s: stop it first, or give this one another STATE_DIR", who, e.Dir)
}

// WrittenPID is the process id of the daemon that last used a STATE_DIR and did
// not say goodbye, or 0. Whether it still runs is not looked at.
func WrittenPID(dir string) int {
	b, _ := os.ReadFile(pidPath(dir))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	return pid
}

func pidPath(dir string) string { return filepath.Join(dir, "daemon.pid") }

// claimStateDir makes this the only daemon of a STATE_DIR until release is
// called or the process ends. note says what had to be mended first.
func claimStateDir(dir string) (release func(), note string, err error) {
	if note, err = makeStateDir(dir); err != nil {
		return nil, "", fmt.Errorf("make STATE_DIR: %w; name another one or use an account that may write there", err)
	}
	lock, err := oslock.Take(filepath.Join(dir, "daemon.lock"))
	switch {
	case err == nil:
	case !errors.Is(err, oslock.ErrHeld):
		return nil, "", fmt.Errorf("claim STATE_DIR: %w", err)
	default:
		return nil, "", &AlreadyRunningError{Dir: dir, PID: WrittenPID(dir)}
	}
	if err := writeFile(pidPath(dir), []byte(strconv.Itoa(os.Getpid())+"\n")); err != nil {
		lock.Release()
		return nil, "", err
	}
	return func() {
		_ = os.Remove(pidPath(dir))
		lock.Release()
	}, note, nil
}
