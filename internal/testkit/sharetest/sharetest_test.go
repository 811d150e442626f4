package sharetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// trial is a testing.TB that only notes a failure.
type trial struct {
	testing.TB
	failed atomic.Bool
}

func (tr *trial) Errorf(string, ...any) { tr.failed.Store(true) }
func (tr *trial) FailNow()              { tr.failed.Store(true); runtime.Goexit() }
func (tr *trial) Helper()               {}

// fails reports whether a claim does not hold for a target.
func fails(t *testing.T, check func(testing.TB, Target), target Target) bool {
	tr := &trial{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		check(tr, target)
	}()
	<-done
	return tr.failed.Load()
}

// broken is a share with one bad habit.
type broken struct {
	lease.Share
	folder string
	habit  string
}

func (b broken) Create(ctx context.Context, name string, body []byte) error {
	err := b.Share.Create(ctx, name, body)
	switch {
	case b.habit == "create overwrites" && errors.Is(err, lease.ErrExists):
		return os.WriteFile(filepath.Join(b.folder, name), body, 0o666)
	case b.habit == "create looks first":
		if _, statErr := os.Stat(filepath.Join(b.folder, name)); statErr == nil {
			return lease.ErrExists
		}
		time.Sleep(time.Millisecond) // on a busy machine too somebody else looks meanwhile
		return os.WriteFile(filepath.Join(b.folder, name), body, 0o666)
	case b.habit == "create loses the body" && err == nil:
		return os.Truncate(filepath.Join(b.folder, name), 0)
	case b.habit == "losers win too" && errors.Is(err, lease.ErrExists):
		return nil
	}
	return err
}

func (b broken) Replace(ctx context.Context, name string, body []byte) error {
	if b.habit == "replace writes in place" {
		if err := os.WriteFile(filepath.Join(b.folder, name), nil, 0o666); err != nil {
			return err
		}
		time.Sleep(time.Millisecond) // on a busy machine too somebody reads meanwhile
		return os.WriteFile(filepath.Join(b.folder, name), body, 0o666)
	}
	return b.Share.Replace(ctx, name, body)
}

func (b broken) Move(ctx context.Context, from, to string) error {
	if b.habit == "move replaces" {
		_ = os.RemoveAll(filepath.Join(b.folder, to))
	}
	return b.Share.Move(ctx, from, to)
}

func (b broken) Read(ctx context.Context, name string) ([]byte, error) {
	body, err := b.Share.Read(ctx, name)
	if b.habit == "trouble is not there" && errors.Is(err, lease.ErrUnavailable) {
		return nil, fmt.Errorf("read: %w", lease.ErrNotExist)
	}
	return body, err
}

func TestClaims_NoticeBrokenShares(t *testing.T) {
	for habit, claim := range map[string]string{
		"create overwrites":       "CreateIsExclusive",
		"create looks first":      "CreateRaceHasOneWinner",
		"losers win too":          "CreateRaceHasOneWinner",
		"create loses the body":   "CreatedBodyIsWhole",
		"replace writes in place": "ReplaceIsSeenWhole",
		"move replaces":           "MoveNeverReplaces",
		"trouble is not there":    "MissingFolderIsUnavailable",
	} {
		t.Run(habit, func(t *testing.T) {
			target := Target{
				Fresh: func(testing.TB) func() lease.Share {
					folder := t.TempDir()
					return func() lease.Share { return broken{lease.NewDir(folder), folder, habit} }
				},
				Missing: func(testing.TB) lease.Share {
					return broken{lease.NewDir(filepath.Join(t.TempDir(), "none")), "", habit}
				},
				Rounds: 50, Workers: 16,
			}
			for _, c := range claims {
				if c.name == claim {
					require.True(t, fails(t, c.check, target), "%s did not notice", claim)
				}
			}
		})
	}
}
