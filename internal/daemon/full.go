package daemon

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// fullness remembers whether the share had no space for the last thing that was
// written there, so that status can say so: to the arbiter a full share is one
// that does not take records, whatever the reason.
type fullness struct {
	arbiter.Store
	share string
	say   func(warn bool, text string)
	full  atomic.Bool
}

// note takes in how a write ended. What says nothing about space changes
// nothing.
func (f *fullness) note(err error) error {
	switch {
	case errors.Is(err, lease.ErrFull):
		if f.full.CompareAndSwap(false, true) {
			f.say(true, f.hint()+"; until then the lease cannot be kept")
		}
	case errors.Is(err, lease.ErrDenied): // refused for another reason now
		f.full.Store(false)
	case err == nil:
		if f.full.CompareAndSwap(true, false) {
			f.say(false, "the share has space again")
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

// state is for status: empty while there is space.
func (f *fullness) state() string {
	if f.isFull() {
		return "full; " + lease.FullHint(f.share)
	}
	return ""
}

func (f *fullness) isFull() bool { return f != nil && f.full.Load() }

func (f *fullness) hint() string { return lease.ErrFull.Error() + ": " + lease.FullHint(f.share) }

// words puts the reason into a text of the arbiter, to which a full share is
// one that refuses.
func (f *fullness) words(text string) string {
	if f.isFull() {
		return strings.ReplaceAll(text, arbiter.NoteDenied, f.hint())
	}
	return text
}
