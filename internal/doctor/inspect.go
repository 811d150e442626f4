package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

const (
	// spaceLow is when a share is called nearly full, in bytes. The lease itself
	// needs less than one; whatever else fills the disk will need the rest.
	spaceLow = 20 << 20
	// holdTime is how long a file is kept open while it is replaced: a reader
	// that is slow, but not stuck.
	holdTime = 400 * time.Millisecond
)

// inspect looks at what only some shares tell: space, clock, and what happens
// to a file that is open when it is replaced.
func inspect(ctx context.Context, share lease.Share, tell Tell) {
	i, ok := share.(lease.Inspector)
	if !ok {
		return
	}
	lookAtClock(ctx, share, i, tell)
	lookAtRename(ctx, share, i, tell)
}

func lookAtSpace(ctx context.Context, share lease.Share, tell Tell) {
	i, ok := share.(lease.Inspector)
	if !ok {
		return
	}
	type space struct{ free, total uint64 }
	s, err := boundedValue(ctx, func() (s space, err error) {
		s.free, s.total, err = i.Space(ctx)
		return s, err
	})
	switch {
	case err != nil || s.total == 0:
		tell.OK("free space: the share does not tell")
	case s.free < spaceLow:
		tell.Warn("free some space on the file server, or raise the quota of the account that runs floatrelay",
			"only %s are free on %s, of %s", size(s.free), share, size(s.total))
	default:
		tell.OK("free space: %s of %s", size(s.free), size(s.total))
	}
}

func lookAtClock(ctx context.Context, share lease.Share, i lease.Inspector, tell Tell) {
	var at time.Time
	var begin, end time.Time
	_, err := tryFile(ctx, share, func(ctx context.Context, _ lease.Share, name string, _ []byte) (err error) {
		end = time.Now()
		at, err = boundedValue(ctx, func() (time.Time, error) { return i.Modified(ctx, name) })
		return err
	}, func() { begin = time.Now() })
	if err != nil {
		return // the write check says why
	}
	judgeShareClock(at, begin, end, tell)
}

// judgeShareClock compares the time of a file with the time in which it was
// created here.
func judgeShareClock(at, begin, end time.Time, tell Tell) {
	off := time.Duration(0)
	switch {
	case at.Before(begin):
		off = at.Sub(begin)
	case at.After(end):
		off = at.Sub(end)
	}
	if off.Abs() > clockSlack {
		tell.Warn("let the file server and the PCs take their time from the same source; nothing is decided by it, but times of files mislead",
			"the clock of the share is %s that of this PC", ahead(off))
		return
	}
	tell.OK("the clock of the share agrees with that of this PC")
}

// lookAtRename replaces a file that is open, as relay_leader.json may be.
func lookAtRename(ctx context.Context, share lease.Share, i lease.Inspector, tell Tell) {
	var took time.Duration
	var stuck error
	_, err := tryFile(ctx, share, func(ctx context.Context, share lease.Share, name string, _ []byte) error {
		held, err := boundedValue(ctx, func() (interface{ Close() error }, error) { return i.Hold(ctx, name) })
		if err != nil {
			return err
		}
		letGo := time.AfterFunc(holdTime, func() { _ = held.Close() })
		begin := time.Now()
		stuck = bounded(ctx, func() error { return share.Replace(ctx, name, []byte("replaced")) })
		took = time.Since(begin)
		if letGo.Stop() {
			_ = held.Close()
		}
		return nil
	}, nil)
	switch {
	case err != nil: // the write check says why
	case stuck != nil:
		tell.Fail("use another kind of share (a Windows or Samba server): on this one clients are not told where the relay is",
			"a file that was open cannot be replaced, not even once it is closed: %v", stuck)
	case took >= holdTime:
		tell.OK("a file that a reader has open is replaced once the reader closes it, as on most file servers")
	default:
		tell.OK("a file that a reader has open is replaced at once")
	}
}

func size(b uint64) string {
	switch {
	case b >= 10<<30:
		return fmt.Sprintf("%d GB", b>>30)
	case b >= 10<<20:
		return fmt.Sprintf("%d MB", b>>20)
	}
	return fmt.Sprintf("%d kB", b>>10)
}
