package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// cleanupTime bounds the removal of a temporary folder after a failure.
const cleanupTime = 5 * time.Second

// Found makes a new chain that begins with record rev. The folder is built
// complete under a temporary name and moved into place, which fails with
// ErrExists if a chain is there: of several founders one wins. With ErrUnknown
// the chain may appear now or later.
//
// A relay_leader.d without a single record is no chain; it is taken down folder
// by folder first, each of which fails if somebody put something in.
func (c *Chain) Found(ctx context.Context, share string, rev uint64, genesis []byte) error {
	if !shareID.MatchString(share) {
		return fmt.Errorf("found a chain: %w: share id %q is not a lower-case UUID", ErrDenied, share)
	}
	if rev < 1 || rev > MaxRev {
		return fmt.Errorf("found a chain: %w: no revision %d", ErrDenied, rev)
	}
	temp := c.Temp()
	err := c.build(ctx, temp, share, rev, genesis)
	if err == nil {
		err = c.moveIn(ctx, temp)
	}
	if err == nil {
		return nil
	}
	if !errors.Is(err, ErrUnknown) {
		c.discard(ctx, temp, share, rev)
	}
	return fmt.Errorf("found a chain: %w", err)
}

// build makes the whole folder under its temporary name.
func (c *Chain) build(ctx context.Context, temp, share string, rev uint64, genesis []byte) error {
	for _, dir := range []string{temp, temp + "/" + share, temp + "/" + share + "/" + membersDir} {
		if err := c.share.Mkdir(ctx, dir); err != nil {
			return notBuilt(err)
		}
	}
	if err := c.share.Create(ctx, tempLock(temp, share, rev), genesis); err != nil {
		return notBuilt(err)
	}
	return nil
}

// notBuilt keeps trouble with a temporary folder from looking like the outcome
// of the move: until that began there is certainly no chain of ours.
func notBuilt(err error) error {
	if errors.Is(err, ErrDenied) {
		return err
	}
	return fmt.Errorf("%w: build it under a temporary name: %s", ErrUnavailable, err.Error())
}

func tempLock(temp, share string, rev uint64) string {
	return fmt.Sprintf("%s/%s/%0*d%s", temp, share, revDigits, rev, lockSuffix)
}

func (c *Chain) moveIn(ctx context.Context, temp string) error {
	err := c.share.Move(ctx, temp, chainDir)
	if !errors.Is(err, ErrExists) {
		return err
	}
	empty, cleared := c.clearEmpty(ctx)
	if cleared != nil {
		return fmt.Errorf("%w (%s has no records but cannot be removed: %s)", err, chainDir, cleared.Error())
	}
	if !empty {
		return err
	}
	return c.share.Move(ctx, temp, chainDir)
}

// clearEmpty removes a relay_leader.d that holds no record at all. Every step
// removes a member's file (written again soon) or a folder that is empty, so
// that a chain put in place meanwhile is never touched, nor what others put
// there.
func (c *Chain) clearEmpty(ctx context.Context) (empty bool, err error) {
	l, err := c.List(ctx)
	if err != nil || l.Share != "" {
		return false, err
	}
	for _, id := range l.Shares {
		dir := chainDir + "/" + id
		if err := c.removeFolder(ctx, dir+"/"+membersDir, ownMemberFile); err != nil {
			return true, err
		}
		if err := gone(c.share.Remove(ctx, dir)); err != nil {
			return true, err
		}
	}
	return true, gone(c.share.Remove(ctx, chainDir))
}

// removeFolder removes a folder with those files in it that are ours by their
// names. With anything else in it the folder stays; a link, a FIFO or the like
// in its place is removed itself.
func (c *Chain) removeFolder(ctx context.Context, dir string, ours func(name string) bool) error {
	names, err := c.share.List(ctx, dir)
	switch {
	case errors.Is(err, ErrNotExist):
		return nil
	case err != nil && !errors.Is(err, ErrIrregular):
		return err
	}
	for _, name := range names {
		if !ours(name) {
			continue
		}
		if err := gone(c.share.Remove(ctx, dir+"/"+name)); err != nil {
			return err
		}
	}
	return gone(c.share.Remove(ctx, dir))
}

// gone takes "was not there" for success.
func gone(err error) error {
	if errors.Is(err, ErrNotExist) {
		return nil
	}
	return err
}

// discard removes what build made, as far as it goes.
func (c *Chain) discard(ctx context.Context, temp, share string, rev uint64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	for _, name := range []string{
		tempLock(temp, share, rev), temp + "/" + share + "/" + membersDir, temp + "/" + share, temp,
	} {
		if gone(c.share.Remove(ctx, name)) != nil {
			return
		}
	}
}
