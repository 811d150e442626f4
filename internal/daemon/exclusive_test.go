package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
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
		note := "unchecked"
		return &exclusive{open: open, set: func(why ...reason.Reason) { note = words.English.All(why) }}, &note
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
	t.Run("a refusal names the folder and no probe, with the cure", func(t *testing.T) {
		err := fmt.Errorf("create %s: %w: no write access to /s: open /s/%s: read-only file system", "floatrelay.tmp-0a1b", lease.ErrDenied, "floatrelay.tmp-0a1b")
		require.Equal(t, "create a file: access denied: no write access to /s: open /s: read-only file system; give this account write access to the folder", words.English.Say(probeNote(err)))
		full := fmt.Errorf("create %s: %w: %s", "floatrelay.tmp-0a1b", lease.ErrFull, lease.FullHint("/s"))
		require.Equal(t, "create a file: share full: "+lease.FullHint("/s"), words.English.Say(probeNote(full)))
	})
}

// However long the share was read-only, it is led on within 15 s.
func TestExclusive_RecoversSoon(t *testing.T) {
	for _, away := range []time.Duration{time.Second, 70 * time.Second, 24*time.Hour + 10*time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			folder := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var writable atomic.Bool
				var led atomic.Int64
				start := time.Now()
				x := &exclusive{
					open: func() (lease.Share, error) {
						if writable.Load() {
							return lease.NewDir(folder), nil
						}
						return denied{lease.NewDir(folder)}, nil
					},
					set: func(why ...reason.Reason) {
						if len(why) == 0 {
							led.Store(int64(time.Since(start)))
						}
					},
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go x.watch(ctx, func() (string, bool) { return "a", false })
				time.Sleep(away)
				require.Zero(t, led.Load())
				writable.Store(true)
				time.Sleep(15 * time.Second)
				synctest.Wait()
				require.NotZero(t, led.Load())
			})
		})
	}
}
