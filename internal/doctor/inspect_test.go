package doctor

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// told is a share that tells what it is told to tell.
type told struct {
	lease.Share
	free, total uint64
	off         time.Duration // its clock minus ours
	open        *atomic.Bool  // a file is held; replacing fails while it is
	stuck       bool          // and ever after
}

func (s told) Space(context.Context) (uint64, uint64, error) { return s.free, s.total, nil }

func (s told) Modified(context.Context, string) (time.Time, error) { return time.Now().Add(s.off), nil }

func (s told) Hold(context.Context, string) (io.Closer, error) {
	s.open.Store(true)
	return s, nil
}

func (s told) Close() error {
	s.open.Store(s.stuck)
	return nil
}

// Replace tries again for two seconds, as the real ones do.
func (s told) Replace(ctx context.Context, name string, body []byte) error {
	for range 40 {
		if !s.open.Load() {
			return s.Share.Replace(ctx, name, body)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("it is kept open")
}

func TestShare_WhatItTellsOfItself(t *testing.T) {
	const gb = 1 << 30
	for name, tc := range map[string]struct {
		share    told
		at       int // of the finding that matters
		level    Level
		text, do string
	}{
		"room":           {told{free: 63 * gb, total: 250 * gb}, 1, OK, "free space: 63 GB of 250 GB", ""},
		"tight":          {told{free: 3 << 20, total: 250 * gb}, 1, Warning, "only 3072 kB are free on ", "free some space"},
		"does not tell":  {told{}, 1, OK, "does not tell", ""},
		"clock ahead":    {told{off: 40 * time.Minute}, 3, Warning, "the clock of the share is 40m0s ahead of that of this PC", "same source"},
		"clock behind":   {told{off: -time.Hour}, 3, Warning, "the clock of the share is 1h0m0s behind that of this PC", "same source"},
		"clock well":     {told{off: 2 * time.Second}, 3, OK, "agrees", ""},
		"reader in way":  {told{}, 4, OK, "once the reader closes it", ""},
		"never replaced": {told{stuck: true}, 4, Failure, "a file that was open cannot be replaced, not even once it is closed", "another kind of share"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				tc.share.Share, tc.share.open = lease.NewDir(dir), new(atomic.Bool)
				got := look(t, shareCheck(figures(dir), opener(tc.share), nil))
				require.Len(t, got, 5)
				one(t, got[tc.at:tc.at+1], tc.level, tc.text, tc.do)
				empty(t, dir)
			})
		})
	}
}
