package doctor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRun_IsBoundedThoughACheckHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		begin := time.Now()
		report := Run(t.Context(), []Check{
			{"quick", func(_ context.Context, tell Tell) { tell.OK("fine") }, ""},
			{"stuck", func(_ context.Context, tell Tell) {
				tell.OK("so far so good")
				<-release // whatever ctx says, like a call on a dead share
				tell.Fail("", "after the end")
			}, "pull the plug"},
			{"polite", func(ctx context.Context, tell Tell) {
				<-ctx.Done()
				tell.Fail("do this", "not in time")
			}, ""},
		}, 5*time.Second)
		require.LessOrEqual(t, time.Since(begin), 5*time.Second+200*time.Millisecond)
		want := []Result{
			{"quick", OK, "fine", ""},
			{"stuck", OK, "so far so good", ""},
			{"stuck", Failure, "no result within 5s", "pull the plug"},
			{"polite", Failure, "not in time", "do this"},
		}
		require.Equal(t, Report{OK: false, Failures: 2, Results: want}, report)
		close(release)
		synctest.Wait()
		require.Equal(t, want, report.Results)
	})
}

func TestRun_ChecksRunAtTheSameTimeAndAreToldInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(d time.Duration) func(context.Context, Tell) {
			return func(_ context.Context, tell Tell) {
				time.Sleep(d)
				tell.Warn("", "after %v", d)
			}
		}
		begin := time.Now()
		report := Run(t.Context(), []Check{{"a", wait(3 * time.Second), ""}, {"b", wait(time.Second), ""}}, Limit)
		require.Equal(t, 3*time.Second, time.Since(begin))
		require.Equal(t, []Result{{"a", Warning, "after 3s", ""}, {"b", Warning, "after 1s", ""}}, report.Results)
		require.True(t, report.OK)
		require.Equal(t, 2, report.Warnings)
	})
}

func TestRun_ACheckThatFailsItselfIsTold(t *testing.T) {
	report := Run(t.Context(), []Check{{"broken", func(context.Context, Tell) { panic("oops") }, ""}}, Limit)
	require.False(t, report.OK)
	require.Contains(t, report.Results[0].Text, "the check itself failed: oops")
}

func TestLimit_LeavesRoomWithinFifteenSeconds(t *testing.T) {
	require.Less(t, Limit, 15*time.Second)
}
