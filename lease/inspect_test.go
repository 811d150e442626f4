package lease_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
)

func TestDir_Inspector(t *testing.T) { sharetest.Inspect(t, lease.NewDir(t.TempDir())) }

func TestDir_InspectorOfNothing(t *testing.T) {
	i := lease.NewDir(filepath.Join(t.TempDir(), "gone")).(lease.Inspector)
	_, _, err := i.Space(t.Context())
	require.Error(t, err)
	_, err = i.Modified(t.Context(), "x")
	require.ErrorIs(t, err, lease.ErrUnavailable)
	_, err = i.Hold(t.Context(), "x")
	require.ErrorIs(t, err, lease.ErrUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = i.Space(ctx)
	require.ErrorIs(t, err, lease.ErrUnavailable)
}
