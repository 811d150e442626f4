package lease

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// litterAge is the time between two looks for temporary names. One that is there
// both times is left over: no builder takes that long.
const litterAge = 10 * time.Minute

// litter remembers the temporary names of the last look.
type litter struct {
	mu    sync.Mutex
	seen  map[string]bool // nil before the first look
	swept time.Duration
}

// Delete removes records, lowest first; which ones is the arbiter's business.
// Records that are gone already are fine; one that cannot be deleted does not
// keep the others. Now
// and then it also removes temporary names that nobody has finished for ten
// minutes.
func (c *Chain) Delete(ctx context.Context, share string, revs []uint64) error {
	var failed error
	for _, rev := range revs {
		if err := gone(c.share.Remove(ctx, lockName(share, rev))); err != nil && failed == nil {
			failed = fmt.Errorf("delete record %d: %w", rev, err)
		}
	}
	return errors.Join(failed, c.sweep(ctx, share))
}

// sweep looks for temporary names once per litterAge.
func (c *Chain) sweep(ctx context.Context, share string) error {
	c.litter.mu.Lock()
	defer c.litter.mu.Unlock()
	now := c.Age()
	if c.litter.seen != nil && now-c.litter.swept < litterAge {
		return nil
	}
	c.litter.swept = now
	seen := map[string]bool{}
	for _, dir := range []string{"", chainDir + "/" + share + "/" + membersDir} {
		if err := c.sweepDir(ctx, dir, seen); err != nil {
			return fmt.Errorf("look for temporary names: %w", err)
		}
	}
	c.litter.seen = seen
	return nil
}

func (c *Chain) sweepDir(ctx context.Context, dir string, seen map[string]bool) error {
	names, err := c.share.List(ctx, dir)
	if err != nil {
		return gone(err)
	}
	for _, name := range names {
		if !ownTemp(name) {
			continue
		}
		path := strings.TrimPrefix(dir+"/"+name, "/")
		if c.litter.seen[path] {
			err = errors.Join(err, c.removeTemp(ctx, path))
		} else {
			seen[path] = true
		}
	}
	return err
}

// removeTemp removes a temporary file, or a folder as Found builds it: a share
// id with its first record and an empty members' folder. What else is in there
// is not ours and keeps its folder.
func (c *Chain) removeTemp(ctx context.Context, path string) error {
	err := gone(c.share.Remove(ctx, path))
	if !errors.Is(err, ErrExists) {
		return err
	}
	names, err := c.share.List(ctx, path)
	if err != nil {
		return gone(err)
	}
	for _, name := range names {
		if !shareID.MatchString(name) {
			continue
		}
		id := path + "/" + name
		if err := c.removeFolder(ctx, id+"/"+membersDir, ownMemberFile); keeps(err) != nil {
			return err
		}
		if err := c.removeFolder(ctx, id, ownRecord); keeps(err) != nil {
			return err
		}
	}
	return keeps(gone(c.share.Remove(ctx, path)))
}

// keeps takes a folder that stays, since others have put something there, for
// success.
func keeps(err error) error {
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// Names that this program builds, and the only ones that it removes.
var (
	tempName = regexp.MustCompile(`^` + regexp.QuoteMeta(TempPrefix) + `([0-9a-f]{16}|[0-9a-f]{32}-[0-9]{2})$`)
	nodeFile = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json$`)
)

func ownTemp(name string) bool { return tempName.MatchString(name) }

func ownMemberFile(name string) bool { return nodeFile.MatchString(name) || ownTemp(name) }

func ownRecord(name string) bool {
	_, ok := parseLock(name)
	return ok
}
