package oslock

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTake_OneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	a, err := Take(path)
	require.NoError(t, err)
	_, err = Take(path)
	require.ErrorIs(t, err, ErrHeld)
	a.Release()
	b, err := Take(path)
	require.NoError(t, err)
	b.Release()
}

func TestTake_UnusableFolder(t *testing.T) {
	_, err := Take(filepath.Join(t.TempDir(), "missing", "x.lock"))
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrHeld)
}
