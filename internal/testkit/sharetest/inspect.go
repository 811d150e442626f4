package sharetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// Inspect checks what a share tells about itself, if it is a lease.Inspector.
func Inspect(t testing.TB, s lease.Share) {
	t.Helper()
	i, ok := s.(lease.Inspector)
	require.True(t, ok, "%T tells nothing", s)
	free, total, err := i.Space(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, free, total)
	require.NoError(t, s.Create(t.Context(), "a.json", []byte("old")))
	at, err := i.Modified(t.Context(), "a.json")
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute, "one clock here")
	_, err = i.Modified(t.Context(), "none")
	require.ErrorIs(t, err, lease.ErrNotExist)
	_, err = i.Hold(t.Context(), "none")
	require.ErrorIs(t, err, lease.ErrNotExist)
	held, err := i.Hold(t.Context(), "a.json")
	require.NoError(t, err)
	time.AfterFunc(300*time.Millisecond, func() { _ = held.Close() })
	require.NoError(t, s.Replace(t.Context(), "a.json", []byte("new")), "a reader that lets go is no obstacle")
	got, err := s.Read(t.Context(), "a.json")
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
}
