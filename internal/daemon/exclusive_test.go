package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// generous tells everybody that they created the file.
type generous struct{ lease.Share }

func (g generous) Create(ctx context.Context, name string, body []byte) error {
	if err := g.Share.Create(ctx, name, body); !errors.Is(err, lease.ErrExists) {
		return err
	}
	return nil
}

// denied may write nothing.
type denied struct{ lease.Share }

func (denied) Create(context.Context, string, []byte) error { return lease.ErrDenied }

func TestExclusive(t *testing.T) {
	folder := t.TempDir()
	good := func() (lease.Share, error) { return lease.NewDir(folder), nil }
	bad := func() (lease.Share, error) { return generous{lease.NewDir(folder)}, nil }
	start := func(open func() (lease.Share, error)) (*exclusive, *string) {
		note := notChecked
		return &exclusive{open: open, set: func(n string) { note = n }}, &note
	}
	t.Run("a good share may be led on, and is not raced again", func(t *testing.T) {
		x, note := start(good)
		require.True(t, x.due("", false))
		x.check(t.Context(), "")
		require.Empty(t, *note)
		require.False(t, x.due("", false))
		require.False(t, x.due("a", false), "the chain founded on the share just checked")
		require.True(t, x.due("b", false), "another share")
	})
	t.Run("a share with two winners is refused, for as long as it is this one", func(t *testing.T) {
		x, note := start(bad)
		x.check(t.Context(), "a")
		require.Contains(t, *note, "not exclusive")
		require.False(t, x.due("a", false))
		x.open = good
		x.check(t.Context(), "a")
		require.Contains(t, *note, "not exclusive", "luck proves nothing")
		require.True(t, x.due("b", false))
		x.check(t.Context(), "b")
		require.Empty(t, *note)
	})
	t.Run("a share that was away is raced again", func(t *testing.T) {
		x, note := start(good)
		x.check(t.Context(), "a")
		require.False(t, x.due("a", true), "not while it is away")
		require.True(t, x.due("a", false))
		x.open = bad
		x.check(t.Context(), "a")
		require.Contains(t, *note, "not exclusive")
	})
	t.Run("a share that cannot be asked is named and asked again", func(t *testing.T) {
		x, note := start(func() (lease.Share, error) { return lease.NewDir(filepath.Join(folder, "none")), nil })
		x.check(t.Context(), "")
		require.Contains(t, *note, "share unavailable")
		require.True(t, x.due("", false))
	})
	t.Run("no write access is named", func(t *testing.T) {
		x, note := start(func() (lease.Share, error) { return denied{lease.NewDir(folder)}, nil })
		x.check(t.Context(), "")
		require.Contains(t, *note, "denied")
	})
}
