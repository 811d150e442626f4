package lease

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Names in LEASE_DIR. The view is ViewName.
const (
	chainDir   = "relay_leader.d"
	membersDir = "members"
	lockSuffix = ".lock"
	revDigits  = 10
	// TempPrefix begins the name of everything that is built under another name
	// first. What a crash left of it is removed by housekeeping.
	TempPrefix = "floatrelay.tmp-"
)

// shareID is a lower-case UUID: nothing people name a folder by accident.
var shareID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Chain is the layout of records, members and view on a share. It keeps no
// state of the chain itself and is safe for concurrent use.
type Chain struct {
	share Share
	// Temp names what is built before it is moved into place; it must never
	// repeat. NewChain sets TempPrefix and random digits.
	Temp func() string
	// Age tells how long ago the process started, for housekeeping of left-over
	// temporary names. NewChain sets the monotonic clock.
	Age func() time.Duration

	litter litter
}

// NewChain returns the chain that lives on share.
func NewChain(share Share) *Chain {
	start := time.Now()
	return &Chain{share: share, Temp: TempName, Age: func() time.Duration { return time.Since(start) }}
}

// TempName returns a fresh name that begins with TempPrefix.
func TempName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return TempPrefix + hex.EncodeToString(b[:])
}

// String names the share for logs.
func (c *Chain) String() string { return c.share.String() }

// Listing is what a folder listing showed of the chain.
type Listing struct {
	Share   string   // share id followed; empty if there is no chain
	Revs    []uint64 // ascending, at least one if Share is not empty
	Strange []string // names that do not belong there, for a report
	Shares  []string // every share id found, lowest first; more than one is a fault
}

// Head returns the highest rev, or 0.
func (l Listing) Head() uint64 {
	if len(l.Revs) == 0 {
		return 0
	}
	return l.Revs[len(l.Revs)-1]
}

// List returns the revisions of the chain. With LEASE_DIR there but no chain in
// it, the listing is empty and the error nil; with LEASE_DIR missing the error
// is ErrUnavailable. Of several share ids the lowest that has records is
// followed and all are reported. A share id without any record is no chain: a
// chain is moved into place complete, and its newest record is never deleted.
func (c *Chain) List(ctx context.Context) (Listing, error) {
	names, err := c.share.List(ctx, chainDir)
	if errors.Is(err, ErrNotExist) {
		return Listing{}, nil
	}
	if err != nil {
		return Listing{}, fmt.Errorf("list the chain: %w", err)
	}
	var l Listing
	for _, name := range names {
		if shareID.MatchString(name) {
			l.Shares = append(l.Shares, name)
		} else {
			l.Strange = append(l.Strange, name)
		}
	}
	slices.Sort(l.Shares)
	for _, id := range l.Shares {
		if err := c.listShare(ctx, id, &l); err != nil {
			return Listing{}, err
		}
		if l.Share != "" {
			break
		}
	}
	slices.Sort(l.Strange)
	return l, nil
}

// listShare adds the records of one share id to l; without any it only leaves a
// remark.
func (c *Chain) listShare(ctx context.Context, id string, l *Listing) error {
	names, err := c.share.List(ctx, chainDir+"/"+id)
	if err != nil && !errors.Is(err, ErrNotExist) {
		return fmt.Errorf("list share %s: %w", id, err)
	}
	for _, name := range names {
		if rev, ok := parseLock(name); ok {
			l.Revs = append(l.Revs, rev)
		} else if name != membersDir {
			l.Strange = append(l.Strange, id+"/"+name)
		}
	}
	if len(l.Revs) == 0 {
		l.Strange = append(l.Strange, id+" (no records)")
		return nil
	}
	slices.Sort(l.Revs)
	l.Share = id
	return nil
}

// Read returns the body of a revision, or ErrNotExist.
func (c *Chain) Read(ctx context.Context, share string, rev uint64) ([]byte, error) {
	b, err := c.share.Read(ctx, lockName(share, rev))
	if err != nil {
		return nil, fmt.Errorf("read record %d: %w", rev, err)
	}
	return b, nil
}

// Create creates a revision exclusively. ErrExists means another create won,
// ErrNotExist that this chain is gone, ErrNoBody that the revision is ours but
// empty, ErrUnknown that it may exist now or later.
func (c *Chain) Create(ctx context.Context, share string, rev uint64, body []byte) error {
	if rev < 1 || rev > MaxRev {
		return fmt.Errorf("create record %d: %w: no such revision", rev, ErrDenied)
	}
	if err := c.share.Create(ctx, lockName(share, rev), body); err != nil {
		return fmt.Errorf("create record %d: %w", rev, err)
	}
	return nil
}

func lockName(share string, rev uint64) string {
	return fmt.Sprintf("%s/%s/%0*d%s", chainDir, share, revDigits, rev, lockSuffix)
}

// RecordName is the file of a record within LEASE_DIR, for people.
func RecordName(share string, rev uint64) string { return lockName(share, rev) }

// parseLock reads the rev out of a record's file name.
func parseLock(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, lockSuffix)
	if !ok || len(digits) != revDigits || !allDigits(digits) {
		return 0, false
	}
	rev, err := strconv.ParseUint(digits, 10, 64)
	return rev, err == nil && rev > 0
}
