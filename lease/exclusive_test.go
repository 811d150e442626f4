package lease_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// generous tells everybody that they won.
type generous struct{ lease.Share }

func (g generous) Create(ctx context.Context, name string, body []byte) error {
	if err := g.Share.Create(ctx, name, body); !errors.Is(err, lease.ErrExists) {
		return err
	}
	return nil
}

// hasty never lets anybody win.
type hasty struct{ lease.Share }

func (hasty) Create(context.Context, string, []byte) error { return lease.ErrExists }

func TestRaceCreate(t *testing.T) {
	folder := t.TempDir()
	race := func(wrap func(lease.Share) lease.Share, dir string) (int, error) {
		shares := make([]lease.Share, 8)
		for i := range shares {
			shares[i] = wrap(lease.NewDir(dir))
		}
		return lease.RaceCreate(t.Context(), shares)
	}
	plain := func(s lease.Share) lease.Share { return s }
	t.Run("a good folder has one winner and nothing left", func(t *testing.T) {
		for range 20 {
			winners, err := race(plain, folder)
			require.NoError(t, err)
			require.Equal(t, 1, winners)
		}
		names, err := lease.NewDir(folder).List(t.Context(), "")
		require.NoError(t, err)
		require.Empty(t, names)
	})
	t.Run("a folder that is not exclusive is found out", func(t *testing.T) {
		winners, err := race(func(s lease.Share) lease.Share { return generous{s} }, folder)
		require.NoError(t, err)
		require.Equal(t, 8, winners)
	})
	t.Run("a folder that is not there says nothing", func(t *testing.T) {
		_, err := race(plain, filepath.Join(folder, "none"))
		require.ErrorIs(t, err, lease.ErrUnavailable)
	})
	t.Run("no winner says nothing", func(t *testing.T) {
		_, err := race(func(s lease.Share) lease.Share { return hasty{s} }, folder)
		require.ErrorIs(t, err, lease.ErrUnavailable)
	})
}
