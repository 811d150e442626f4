package lease

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Inspector is what a Share may offer for looking at it. Nothing of the lease
// needs it; the doctor does. Its calls may block like those of a Share.
type Inspector interface {
	// Space returns how many bytes this account may still write, and of how
	// many; a total of zero means that the share does not tell.
	Space(ctx context.Context) (free, total uint64, err error)
	// Modified returns when a file was last written, by the server's clock.
	Modified(ctx context.Context, name string) (time.Time, error)
	// Hold opens a file for reading, as another program might, until the result
	// is closed.
	Hold(ctx context.Context, name string) (io.Closer, error)
}

var _ Inspector = (*dir)(nil)

// Space implements Inspector.
func (d *dir) Space(ctx context.Context) (free, total uint64, err error) {
	if err := d.check(ctx, ""); err != nil {
		return 0, 0, err
	}
	if free, total, err = d.sys.space(); err != nil {
		return 0, 0, fmt.Errorf("ask %s for its free space: %w", d.base, err)
	}
	return free, total, nil
}

// Modified implements Inspector.
func (d *dir) Modified(ctx context.Context, name string) (time.Time, error) {
	if err := d.check(ctx, name); err != nil {
		return time.Time{}, err
	}
	at, err := d.sys.modified(name)
	if err != nil {
		return time.Time{}, d.fail("ask for the time of", name, d.judge(err), false, err)
	}
	return at, nil
}

// Hold implements Inspector.
func (d *dir) Hold(ctx context.Context, name string) (io.Closer, error) {
	if err := d.check(ctx, name); err != nil {
		return nil, err
	}
	h, err := d.sys.open(name)
	if err != nil {
		return nil, d.fail("open", name, d.judge(err), false, err)
	}
	return h, nil
}
