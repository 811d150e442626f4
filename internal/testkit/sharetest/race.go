package sharetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// raceAll runs call once per worker, all at the same moment, and returns the
// errors by worker.
func raceAll(workers int, call func(worker int) error) []error {
	errs := make([]error, workers)
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			<-gate
			errs[w] = call(w)
		})
	}
	close(gate)
	wg.Wait()
	return errs
}

// winner returns who got no error; every other one must have lost cleanly.
func winner(t testing.TB, errs []error) int {
	t.Helper()
	won := -1
	for w, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, lease.ErrExists)
			continue
		}
		require.Equal(t, -1, won, "workers %d and %d both won", won, w)
		won = w
	}
	require.NotEqual(t, -1, won, "nobody won")
	return won
}

func createRace(t testing.TB, target Target) {
	open := target.Fresh(t)
	shares := make([]lease.Share, target.Workers)
	for w := range shares {
		shares[w] = open()
	}
	for round := range target.Rounds {
		name := fmt.Sprintf("%010d.lock", round+1)
		won := winner(t, raceAll(target.Workers, func(w int) error {
			return shares[w].Create(t.Context(), name, fmt.Appendf(nil, "worker %d", w))
		}))
		requireBody(t, shares[0], name, fmt.Sprintf("worker %d", won))
	}
}

func moveRace(t testing.TB, target Target) {
	open := target.Fresh(t)
	for round := range max(target.Rounds/10, 3) {
		to := fmt.Sprintf("chain%d", round)
		shares := make([]lease.Share, target.Workers)
		for w := range shares {
			shares[w] = open()
			from := fmt.Sprintf("tmp%d-%d", round, w)
			require.NoError(t, shares[w].Mkdir(t.Context(), from))
			require.NoError(t, shares[w].Create(t.Context(), from+"/id", fmt.Appendf(nil, "worker %d", w)))
		}
		won := winner(t, raceAll(target.Workers, func(w int) error {
			return shares[w].Move(t.Context(), fmt.Sprintf("tmp%d-%d", round, w), to)
		}))
		requireBody(t, shares[0], to+"/id", fmt.Sprintf("worker %d", won))
	}
}

func moveTakesContent(t testing.TB, target Target) {
	s := target.Fresh(t)()
	require.NoError(t, s.Mkdir(t.Context(), "tmp"))
	require.NoError(t, s.Mkdir(t.Context(), "tmp/members"))
	require.NoError(t, s.Create(t.Context(), "tmp/f", []byte("x")))
	require.NoError(t, s.Move(t.Context(), "tmp", "d"))
	requireBody(t, s, "d/f", "x")
	names, err := s.List(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []string{"d"}, names)
	require.ErrorIs(t, s.Move(t.Context(), "tmp", "e"), lease.ErrNotExist)
}

func moveNeverReplaces(t testing.TB, target Target) {
	s := target.Fresh(t)()
	require.NoError(t, s.Mkdir(t.Context(), "tmp"))
	require.NoError(t, s.Create(t.Context(), "tmp/f", []byte("new")))
	require.NoError(t, s.Mkdir(t.Context(), "full"))
	require.NoError(t, s.Create(t.Context(), "full/f", []byte("old")))
	require.NoError(t, s.Mkdir(t.Context(), "empty"))
	require.NoError(t, s.Create(t.Context(), "file", []byte("old")))
	for _, to := range []string{"full", "empty", "file"} {
		require.ErrorIs(t, s.Move(t.Context(), "tmp", to), lease.ErrExists, to)
	}
	requireBody(t, s, "full/f", "old")
	requireBody(t, s, "file", "old")
	requireBody(t, s, "tmp/f", "new")
}

func replaceMakes(t testing.TB, target Target) {
	open := target.Fresh(t)
	for _, body := range []string{"one", long(5_000), "three", ""} {
		require.NoError(t, open().Replace(t.Context(), "view", []byte(body)))
		requireBody(t, open(), "view", body)
	}
	require.ErrorIs(t, open().Replace(t.Context(), "no/such", nil), lease.ErrNotExist)
}

// replaceSeenWhole reads all the time while the content changes length: never a
// mixture, never nothing. Where a program that has the file open hinders the
// replacement, it fails as denied, leaves the old content, and is possible as
// soon as the readers are gone.
func replaceSeenWhole(t testing.TB, target Target) {
	open := target.Fresh(t)
	texts := []string{strings.Repeat("a", 100), strings.Repeat("b", 5_000), "c"}
	require.NoError(t, open().Replace(t.Context(), "view", []byte(texts[0])))
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		s := open()
		readers.Go(func() {
			for ctx.Err() == nil {
				if body, err := s.Read(t.Context(), "view"); err != nil || !contains(texts, string(body)) {
					t.Errorf("read %d bytes, %v", len(body), err)
					return
				}
			}
		})
	}
	s := open()
	for i := range 4 * target.Rounds {
		err := s.Replace(t.Context(), "view", []byte(texts[i%len(texts)]))
		if readersHinder && errors.Is(err, lease.ErrDenied) {
			break // every further one may take as long to fail
		}
		if err != nil {
			t.Errorf("replace: %v", err)
			break
		}
	}
	stop()
	readers.Wait()
	require.NoError(t, s.Replace(t.Context(), "view", []byte("last")))
	requireBody(t, open(), "view", "last")
}

func replaceLeavesNothing(t testing.TB, target Target) {
	s := target.Fresh(t)()
	for range 5 {
		require.NoError(t, s.Replace(t.Context(), "view", []byte("x")))
	}
	names, err := s.List(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []string{"view"}, names)
}

func doneContext(t testing.TB, target Target) {
	s := target.Fresh(t)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range everyCall(ctx, s) {
		require.Error(t, err, name)
		require.NotErrorIs(t, err, lease.ErrNotExist, name)
		require.NotErrorIs(t, err, lease.ErrExists, name)
	}
	names, err := s.List(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, names)
}

func missingFolder(t testing.TB, target Target) {
	for name, err := range everyCall(t.Context(), target.Missing(t)) {
		require.ErrorIs(t, err, lease.ErrUnavailable, name)
		require.NotErrorIs(t, err, lease.ErrNotExist, name)
	}
}

func everyCall(ctx context.Context, s lease.Share) map[string]error {
	_, read := s.Read(ctx, "f")
	_, list := s.List(ctx, "d")
	_, root := s.List(ctx, "")
	return map[string]error{
		"create": s.Create(ctx, "f", []byte("x")), "read": read, "list": list, "list root": root,
		"replace": s.Replace(ctx, "f", []byte("x")), "mkdir": s.Mkdir(ctx, "d"),
		"move": s.Move(ctx, "a", "b"), "remove": s.Remove(ctx, "f"),
	}
}

func requireBody(t testing.TB, s lease.Share, name, body string) {
	t.Helper()
	got, err := s.Read(t.Context(), name)
	require.NoError(t, err)
	require.Equal(t, body, string(got))
}

func contains(texts []string, s string) bool {
	for _, text := range texts {
		if s == text {
			return true
		}
	}
	return false
}

func long(n int) string { return strings.Repeat("0123456789", n/10) }
