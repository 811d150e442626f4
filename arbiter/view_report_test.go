package arbiter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// deafStore refuses publications while refuse holds an error.
type deafStore struct {
	*fakeStore
	refuse atomic.Pointer[error]
}

func (s *deafStore) Publish(ctx context.Context, v lease.View) error {
	if err := s.refuse.Load(); err != nil {
		return *err
	}
	return s.fakeStore.Publish(ctx, v)
}

// A view that cannot be written (read-only, full disk, held open for good) is
// said once, in words, and costs nobody the lease.
func TestDriver_AViewThatCannotBePublishedIsSaidAndLeadershipGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := fmt.Errorf("publish the view: %w: it is read-only", lease.ErrDenied)
		deaf, told := &deafStore{}, &lines{}
		x := drive(t, func(cfg *DriverConfig) {
			deaf.fakeStore = cfg.Store.(*fakeStore)
			cfg.Store, cfg.Report = deaf, told.add
		})
		x.leads(t, idB)
		deaf.refuse.Store(&cause)
		epoch, rev := x.Status().Epoch, x.Status().Rev
		time.Sleep(5 * time.Minute)
		require.Equal(t, epoch, x.Status().Epoch)
		require.Greater(t, x.Status().Rev, rev+90, "renewals go on")
		require.Equal(t, RelayRunning, x.Status().Relay)
		require.Zero(t, x.guards.stopped())
		require.Len(t, told.with(reason.ViewFails), 1)
		require.Contains(t, told.with(reason.ViewFails)[0].Reason.Detail, "it is read-only")

		other := errors.New("disk full")
		deaf.refuse.Store(&other)
		time.Sleep(time.Minute)
		require.Len(t, told.with(reason.ViewFails), 1, "one warning, not one per attempt")
		deaf.refuse.Store(nil)
		time.Sleep(5 * time.Second)
		require.Len(t, told.with(reason.ViewBack), 1)
		x.store.mu.Lock()
		defer x.store.mu.Unlock()
		require.Equal(t, x.Status().Rev, x.store.views[len(x.store.views)-1].Rev)
	})
}

// lines keeps what was reported.
type lines struct {
	mu  sync.Mutex
	all []Report
}

func (l *lines) add(r Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r)
}

// with returns the reports with that code.
func (l *lines) with(code reason.Code) (out []Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.all {
		if r.Reason.Code == code {
			out = append(out, r)
		}
	}
	return out
}
