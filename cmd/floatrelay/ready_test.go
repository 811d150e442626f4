package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// startAfter runs awaitStart in virtual time with an open that takes so long and
// then fails with err, and returns when READY was told, if it was.
func startAfter(ctx context.Context, wait time.Duration, err error) (told []time.Duration, got error) {
	begun := time.Now()
	_, got = awaitStart(ctx, func(state string) {
		if state == "READY=1" {
			told = append(told, time.Since(begun))
		}
	}, func() (int, error) {
		time.Sleep(wait)
		return 1, err
	}, func(int) {})
	time.Sleep(time.Hour)
	synctest.Wait()
	return told, got
}

// systemd is told READY soon whatever the start waits for, at once when it is
// done, and never of a start that failed at once.
func TestAwaitStart_TellsSystemd(t *testing.T) {
	bad := errors.New("bad stk.ini")
	for name, c := range map[string]struct {
		wait time.Duration
		err  error
		told []time.Duration
	}{
		"done at once":                  {0, nil, []time.Duration{0}},
		"done soon":                     {time.Second, nil, []time.Duration{time.Second}},
		"the network comes after hours": {3 * time.Hour, nil, []time.Duration{readyPatience}},
		"refused at once":               {0, bad, nil},
		"refused after long":            {time.Minute, bad, []time.Duration{readyPatience}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told, err := startAfter(t.Context(), c.wait, c.err)
				require.Equal(t, c.told, told)
				require.ErrorIs(t, err, c.err)
			})
		})
	}
	require.Less(t, readyPatience, 5*time.Second, "as on Windows")
}

// A stop while the start waits is answered at once, is no failure of the start,
// and nothing that was opened after it lives on.
func TestAwaitStart_EndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begun, discarded := time.Now(), make(chan int, 1)
		_, err := awaitStart(ctx, func(string) {}, func() (int, error) {
			time.Sleep(time.Hour) // a share that hangs
			return 7, nil
		}, func(v int) { discarded <- v })
		require.ErrorIs(t, err, errInterrupted)
		require.Equal(t, 10*time.Second, time.Since(begun))
		require.Equal(t, 7, <-discarded)
	})
}

// The same through the command line: a daemon stopped before it could start has
// not failed.
func TestRun_StoppedBeforeItStarted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := cliContext(ctx, nil, "run", "--config", ini(t))
	require.Equal(t, exitOK, got.code, got.err)
}
