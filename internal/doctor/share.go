package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/internal/config"
	"github.com/convertfw/floatrelay/lease"
)

// trials is how many small files are written to learn the latency, if they take
// no longer than patience together.
const (
	trials   = 5
	patience = 4 * time.Second
)

func shareCheck(cfg config.Config, open func() (lease.Share, error), account func(dir string) error) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		share, err := open()
		if err != nil {
			tell.Fail("correct LEASE_DIR", "%v", err)
			return
		}
		_, err = boundedValue(ctx, func() ([]string, error) { return share.List(ctx, "") })
		if err != nil {
			tell.Fail(shareAdvice(cfg.LeaseDir, err), "cannot list %s: %v", share, plain(err))
			return
		}
		tell.OK("%s can be read", share)
		judgeAccount(ctx, cfg.LeaseDir, account, tell)
		lookAtSpace(ctx, share, tell)
		if tryWriting(ctx, cfg, share, tell) {
			inspect(ctx, share, tell)
		}
	}
}

// tryWriting does with files of its own what a leader does with records, and
// reports whether that is possible.
func tryWriting(ctx context.Context, cfg config.Config, share lease.Share, tell Tell) bool {
	begin := time.Now()
	var worst time.Duration
	for n := range trials {
		var use fileUse
		if n == 0 {
			use = tryContent
		}
		took, err := tryFile(ctx, share, use, nil)
		if err != nil {
			tell.Fail(shareAdvice(cfg.LeaseDir, err), "cannot write in %s: %v", share, plain(err))
			return false
		}
		worst = max(worst, took)
		if time.Since(begin) > patience {
			break
		}
	}
	if most := cfg.LeaseFence / 3; worst > most {
		tell.Warn("look for load on the file server or a poor network; or raise LEASE_FENCE",
			"%s takes up to %v for a small file, more than LEASE_FENCE/3 (%v)", share, round(worst), most)
		return true
	}
	tell.OK("%s can be written, up to %v for a small file", share, round(worst))
	return true
}

// fileUse is what is tried with a file before it is removed.
type fileUse func(ctx context.Context, share lease.Share, name string, body []byte) error

// tryFile creates a file as large as a record, lets use have it, removes it,
// and returns how long the create took. before, if not nil, is called just
// before the create.
func tryFile(ctx context.Context, share lease.Share, use fileUse, before func()) (took time.Duration, err error) {
	name := lease.TempName()
	body := bytes.Repeat([]byte("x"), lease.MaxBody)
	if before != nil {
		before()
	}
	begin := time.Now()
	err = bounded(ctx, func() error { return share.Create(ctx, name, body) })
	took = time.Since(begin)
	if err != nil {
		err = fmt.Errorf("create a file: %w", err)
	} else if use != nil {
		err = use(ctx, share, name, body)
	}
	removed := bounded(ctx, func() error { return share.Remove(ctx, name) })
	if err == nil && removed != nil {
		err = fmt.Errorf("remove a file: %w", removed)
	}
	return took, err
}

// tryContent reads a file back, replaces it, and reads it again.
func tryContent(ctx context.Context, share lease.Share, name string, body []byte) error {
	if err := tryRead(ctx, share, name, body); err != nil {
		return err
	}
	next := []byte("replaced")
	if err := bounded(ctx, func() error { return share.Replace(ctx, name, next) }); err != nil {
		return fmt.Errorf("replace a file: %w", err)
	}
	return tryRead(ctx, share, name, next)
}

func tryRead(ctx context.Context, share lease.Share, name string, want []byte) error {
	got, err := boundedValue(ctx, func() ([]byte, error) { return share.Read(ctx, name) })
	if err != nil {
		return fmt.Errorf("read a file back: %w", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("read a file back: %d bytes came back, not the %d written", len(got), len(want))
	}
	return nil
}

// plain puts a call that did not end into words.
func plain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("it does not answer")
	}
	return err
}

// shareAdvice says what usually is behind an error.
func shareAdvice(dir string, err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return hungShare
	case errors.Is(err, lease.ErrFull):
		return "free some space on the file server, or raise the quota of the account that runs floatrelay; without it no PC can keep the lease"
	case errors.Is(err, lease.ErrDenied):
		return "give the account that runs floatrelay the right to create and delete files in this folder, share and file permissions both"
	case errors.Is(err, lease.ErrUnavailable) && isDriveLetter(dir):
		return "check that the folder is there; a drive letter is not visible to a service or an elevated console: " +
			`use the UNC path (\\server\share\folder) or smb://`
	case errors.Is(err, lease.ErrUnavailable):
		return "check that the folder exists (floatrelay never creates it) and that the file server is reached"
	}
	return "check the file server and its disk; another kind of share may be needed"
}

// isDriveLetter reports whether dir begins with a drive that is not this PC's
// system drive.
func isDriveLetter(dir string) bool {
	return len(dir) >= 2 && dir[1] == ':' && !strings.EqualFold(dir[:1], "c")
}

func round(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}
