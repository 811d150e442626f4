package faulty_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
)

func TestShare_WithoutFaultsKeepsTheContract(t *testing.T) {
	sharetest.Run(t, sharetest.Target{
		Fresh: func(t testing.TB) func() lease.Share {
			folder := t.TempDir()
			return func() lease.Share {
				return faulty.New(lease.NewDir(folder), faulty.When(faulty.Cut(), &faulty.Switch{}))
			}
		},
		Missing: func(t testing.TB) lease.Share { return faulty.New(lease.NewDir(t.TempDir() + "/none")) },
		Rounds:  5,
	})
}

func TestShare_PrintsItsFaults(t *testing.T) {
	s := faulty.New(lease.NewDir("x"), faulty.Delay(time.Second),
		faulty.When(faulty.LostAck(), faulty.Kinds(faulty.Create, faulty.Move), faulty.Names("*.lock"), faulty.Nth(2)),
		faulty.LateApply(time.Minute), faulty.Cut(), faulty.NoBody(), faulty.Stall(&faulty.Gate{}))
	require.Equal(t, "x with delay(1s), lost-ack when [create move] and *.lock and nth(2), "+
		"late-apply(1m0s), cut, no-body, stall", s.String())
}

func TestShare_Faults(t *testing.T) {
	body := []byte("body")
	for name, tc := range map[string]struct {
		in    faulty.Injector
		err   error
		found string // content afterwards; "-" for no file
	}{
		"cut":         {faulty.Cut(), lease.ErrUnavailable, "-"},
		"fail":        {faulty.Fail(lease.ErrDenied), lease.ErrDenied, "-"},
		"lost ack":    {faulty.LostAck(), lease.ErrUnknown, "body"},
		"no body":     {faulty.NoBody(), lease.ErrNoBody, ""},
		"delay":       {faulty.Delay(time.Millisecond), nil, "body"},
		"other kind":  {faulty.When(faulty.Cut(), faulty.Kinds(faulty.Remove)), nil, "body"},
		"other name":  {faulty.When(faulty.Cut(), faulty.Names("*.json")), nil, "body"},
		"second only": {faulty.When(faulty.Cut(), faulty.Nth(2)), nil, "body"},
		"first":       {faulty.When(faulty.Cut(), faulty.First(1)), lease.ErrUnavailable, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			inner := lease.NewDir(t.TempDir())
			s := faulty.New(inner, tc.in)
			require.ErrorIs(t, s.Create(t.Context(), "a.lock", body), tc.err)
			got, err := inner.Read(t.Context(), "a.lock")
			if tc.found == "-" {
				require.ErrorIs(t, err, lease.ErrNotExist)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.found, string(got))
			require.Equal(t, 1, s.Calls())
		})
	}
}

func TestLateApply_IsCarriedOutAfterTheCallerGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := lease.NewDir(t.TempDir())
		on := &faulty.Switch{}
		s := faulty.New(inner, faulty.When(faulty.LateApply(time.Minute), on))
		on.Set(true)
		require.ErrorIs(t, s.Create(t.Context(), "a", nil), lease.ErrUnknown)
		_, err := s.Read(t.Context(), "a")
		require.ErrorIs(t, err, lease.ErrNotExist)
		start := time.Now()
		s.Wait()
		require.Equal(t, time.Minute, time.Since(start))
		_, err = s.Read(t.Context(), "a")
		require.NoError(t, err)
	})
}

func TestStall_HoldsCallsUntilTheGateOpens(t *testing.T) {
	for name, tc := range map[string]struct {
		stall func(*faulty.Gate) faulty.Injector
		err   error // of reading the file behind the stall
	}{
		"request": {faulty.Stall, lease.ErrNotExist},
		"answer":  {faulty.StallAnswer, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner, gate := lease.NewDir(t.TempDir()), &faulty.Gate{}
				s := faulty.New(inner, tc.stall(gate))
				gate.Close()
				done := errors.New("still stalled")
				go func() { done = s.Create(t.Context(), "a", nil) }()
				synctest.Wait()
				require.EqualError(t, done, "still stalled")
				_, err := inner.Read(t.Context(), "a")
				require.ErrorIs(t, err, tc.err)
				gate.Open()
				synctest.Wait()
				require.NoError(t, done)
			})
		})
	}
}
