package daemon

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// A share that hangs from the start is called so within 15 s.
func TestS2_ShareThatHangsFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var said [][]reason.Reason
		back := make(chan struct{})
		x := exclusive{
			open: func() (lease.Share, error) { <-back; return nil, lease.ErrUnavailable },
			set: func(why ...reason.Reason) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, why)
			},
		}
		go x.check(context.Background(), "")
		time.Sleep(15 * time.Second)
		synctest.Wait()
		mu.Lock()
		require.Equal(t, [][]reason.Reason{reason.Of(reason.ShareSilent)}, said)
		mu.Unlock()
		close(back)
		synctest.Wait()
		require.Len(t, said, 2, "the answer is the last word")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, said, 2)
	})
}
