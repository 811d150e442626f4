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

// trials is how many small records are written to learn the latency.
const trials = 5

func shareCheck(cfg config.Config, open func() (lease.Share, error)) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		share, err := open()
		if err != nil {
			tell.Fail("correct LEASE_DIR", "%v", err)
			return
		}
		err = bounded(ctx, func() error { _, err := share.List(ctx, ""); return err })
		if err != nil {
			tell.Fail(shareAdvice(cfg.LeaseDir, err), "cannot list %s: %v", share, err)
			return
		}
		tell.OK("%s can be read", share)
		tryWriting(ctx, cfg, share, tell)
	}
}

// tryWriting does with files of its own what a leader does with records.
func tryWriting(ctx context.Context, cfg config.Config, share lease.Share, tell Tell) {
	var worst time.Duration
	for range trials {
		took, err := tryCreate(ctx, share)
		if err != nil {
			tell.Fail(shareAdvice(cfg.LeaseDir, err), "cannot write in %s: %v", share, err)
			return
		}
		worst = max(worst, took)
	}
	if most := cfg.LeaseFence / 3; worst > most {
		tell.Warn("look for load on the file server or a poor network; or raise LEASE_FENCE",
			"%s takes up to %v for a small file, more than LEASE_FENCE/3 (%v)", share, round(worst), most)
		return
	}
	tell.OK("%s can be written, up to %v for a small file", share, round(worst))
}

// tryCreate creates a file, reads it back, replaces and removes it, and returns
// how long the create took.
func tryCreate(ctx context.Context, share lease.Share) (took time.Duration, err error) {
	name := lease.TempName()
	body := bytes.Repeat([]byte("x"), lease.MaxBody)
	defer func() {
		removed := bounded(ctx, func() error { return share.Remove(ctx, name) })
		if err == nil && removed != nil {
			err = fmt.Errorf("remove a file: %w", removed)
		}
	}()
	begin := time.Now()
	if err := bounded(ctx, func() error { return share.Create(ctx, name, body) }); err != nil {
		return 0, fmt.Errorf("create a file: %w", err)
	}
	took = time.Since(begin)
	for _, want := range [][]byte{body, []byte("replaced")} {
		if err := tryRead(ctx, share, name, want); err != nil {
			return 0, err
		}
		if err := bounded(ctx, func() error { return share.Replace(ctx, name, []byte("replaced")) }); err != nil {
			return 0, fmt.Errorf("replace a file: %w", err)
		}
	}
	return took, nil
}

func tryRead(ctx context.Context, share lease.Share, name string, want []byte) error {
	var got []byte
	err := bounded(ctx, func() (err error) {
		got, err = share.Read(ctx, name)
		return err
	})
	if err != nil {
		return fmt.Errorf("read a file back: %w", err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("read a file back: %d bytes came back, not the %d written", len(got), len(want))
	}
	return nil
}

// shareAdvice says what usually is behind an error.
func shareAdvice(dir string, err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return hungShare
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
