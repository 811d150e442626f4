package service

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows/svc"
)

// Row E02: whatever the program waits for (a share that does not answer with
// stk.ini on it), the service manager is told at once that it runs, is answered
// meanwhile, and can stop it.
func TestCaseE02_RunningIsToldAtOnce(t *testing.T) {
	h := &handler{p: Program{Run: func(ctx context.Context, _ Journal) error {
		<-ctx.Done() // as long as the share hangs
		time.Sleep(50 * time.Millisecond)
		return ctx.Err()
	}}}
	asked, told := make(chan svc.ChangeRequest), make(chan svc.Status, 64)
	ended := make(chan uint32, 1)
	begun := time.Now()
	go func() {
		_, code := h.Execute(nil, asked, told)
		ended <- code
	}()
	require.Equal(t, svc.Running, (<-told).State)
	require.Less(t, time.Since(begun), 20*time.Second, "what it waits for never comes by itself")
	asked <- svc.ChangeRequest{Cmd: svc.Interrogate}
	require.Equal(t, svc.Running, (<-told).State)
	asked <- svc.ChangeRequest{Cmd: svc.Stop}
	require.Equal(t, svc.StopPending, (<-told).State)
	require.Zero(t, <-ended, "a wanted stop is no failure")
}
