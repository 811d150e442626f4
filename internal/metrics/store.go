package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// Store returns s with every call timed.
func (m *Metrics) Store(s arbiter.Store) arbiter.Store { return timed{s, m} }

// timed is a store whose calls are observed when they truly return; one that
// hangs shows in share_silent_seconds meanwhile.
type timed struct {
	arbiter.Store
	m *Metrics
}

func (t timed) observe(op string, begun time.Time, err *error) {
	t.m.share.WithLabelValues(op, outcome(*err)).Observe(time.Since(begun).Seconds())
}

// outcome names an error of a share. A create that finds the name taken and a
// read that finds nothing are answers, not failures, and told apart as such.
func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, lease.ErrNoBody):
		return "no-body"
	case errors.Is(err, lease.ErrUnknown):
		return "unknown"
	case errors.Is(err, lease.ErrExists):
		return "exists"
	case errors.Is(err, lease.ErrNotExist):
		return "not-exist"
	case errors.Is(err, lease.ErrFull):
		return "full"
	case errors.Is(err, lease.ErrDenied):
		return "denied"
	case errors.Is(err, lease.ErrUnavailable):
		return "unavailable"
	}
	return "unknown"
}

func (t timed) List(ctx context.Context) (l lease.Listing, err error) {
	defer t.observe("list", time.Now(), &err)
	return t.Store.List(ctx)
}

func (t timed) Read(ctx context.Context, share string, rev uint64) (b []byte, err error) {
	defer t.observe("read", time.Now(), &err)
	return t.Store.Read(ctx, share, rev)
}

func (t timed) Create(ctx context.Context, share string, rev uint64, body []byte) (err error) {
	defer t.observe("create", time.Now(), &err)
	return t.Store.Create(ctx, share, rev, body)
}

func (t timed) Found(ctx context.Context, share string, rev uint64, genesis []byte) (err error) {
	defer t.observe("found", time.Now(), &err)
	return t.Store.Found(ctx, share, rev, genesis)
}

func (t timed) Delete(ctx context.Context, share string, revs []uint64) (err error) {
	defer t.observe("delete", time.Now(), &err)
	return t.Store.Delete(ctx, share, revs)
}

func (t timed) Publish(ctx context.Context, v lease.View) (err error) {
	defer t.observe("publish", time.Now(), &err)
	return t.Store.Publish(ctx, v)
}
