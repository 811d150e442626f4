package daemon

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// fullness remembers whether the share had no space for the last thing that was
// written there, so that status can say so: to the arbiter a full share is one
// that does not take records, whatever the reason.
type fullness struct {
	arbiter.Store
	share string
	say   tell
	full  atomic.Bool
}

// note takes in how a write ended. What says nothing about space changes
// nothing.
func (f *fullness) note(err error) error {
	switch {
	case errors.Is(err, lease.ErrFull):
		if f.full.CompareAndSwap(false, true) {
			f.say(true, reason.Reason{Code: reason.ShareIsFull, Path: f.share})
		}
	case errors.Is(err, lease.ErrDenied): // refused for another reason now
		f.full.Store(false)
	case err == nil:
		if f.full.CompareAndSwap(true, false) {
			f.say(false, reason.Reason{Code: reason.SpaceBack})
		}
	}
	return err
}

// Create implements arbiter.Store.
func (f *fullness) Create(ctx context.Context, share string, rev uint64, body []byte) error {
	return f.note(f.Store.Create(ctx, share, rev, body))
}

// Found implements arbiter.Store.
func (f *fullness) Found(ctx context.Context, share string, rev uint64, genesis []byte) error {
	return f.note(f.Store.Found(ctx, share, rev, genesis))
}

// Publish implements arbiter.Store.
func (f *fullness) Publish(ctx context.Context, v lease.View) error {
	return f.note(f.Store.Publish(ctx, v))
}

func (f *fullness) isFull() bool { return f != nil && f.full.Load() }

// explain says that the share is full in place of what follows from it: to the
// arbiter such a share is one that refuses, or wrote no body. It is said too while
// the arbiter knows of nothing, between two attempts.
func (f *fullness) explain(why []reason.Reason) []reason.Reason {
	if !f.isFull() {
		return why
	}
	full := reason.Reason{Code: reason.ShareFull, Path: f.share}
	if len(why) == 0 {
		return []reason.Reason{full}
	}
	return f.replace(why)
}

// replace is explain for what follows from a full share and nothing else.
func (f *fullness) replace(why []reason.Reason) []reason.Reason {
	why = slices.Clone(why)
	for i, r := range why {
		if f.isFull() && (r.Code == reason.ShareDenied || r.Code == reason.RecordEmpty) {
			why[i] = reason.Reason{Code: reason.ShareFull, Path: f.share}
		}
	}
	return why
}
