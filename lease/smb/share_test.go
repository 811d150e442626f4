package smb

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudsoda/go-smb2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/busy"
)

// silent accepts connections and never says a word.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return l.Addr().String()
}

func openAt(t *testing.T, addr string, opt Options) *Share {
	t.Helper()
	s, err := Open(fmt.Sprintf("smb://pos@%s/relay/socket", addr), "hush", opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// everyCall makes each change and each question once.
func everyCall(ctx context.Context, s *Share) map[string]error {
	_, read := s.Read(ctx, "f")
	_, list := s.List(ctx, "d")
	return map[string]error{
		"create": s.Create(ctx, "f", []byte("x")), "read": read, "list": list, "replace": s.Replace(ctx, "f", nil),
		"mkdir": s.Mkdir(ctx, "d"), "move": s.Move(ctx, "a", "b"), "remove": s.Remove(ctx, "f"),
	}
}

func TestShare_SilentServer(t *testing.T) {
	addr := silent(t)
	before := goleak.IgnoreCurrent()
	defer func() {
		err := goleak.Find(before)
		for end := time.Now().Add(30 * time.Second); err != nil && time.Now().Before(end); {
			err = goleak.Find(before) // waits for half a second itself
		}
		require.NoError(t, err)
	}()
	s := openAt(t, addr, Options{Call: 30 * time.Millisecond})
	for name, err := range everyCall(t.Context(), s) {
		// Nothing but a greeting was sent, so nothing can have been done.
		require.ErrorIs(t, err, lease.ErrUnavailable, name)
		require.NotErrorIs(t, err, lease.ErrUnknown, name)
	}
	t.Run("the caller's deadline counts as well", func(t *testing.T) {
		s := openAt(t, addr, Options{Call: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		_, err := s.List(ctx, "")
		require.ErrorIs(t, err, lease.ErrUnavailable)
	})
}

func TestShare_NobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	for name, err := range everyCall(t.Context(), openAt(t, l.Addr().String(), Options{})) {
		require.ErrorIs(t, err, lease.ErrUnavailable, name)
		require.ErrorContains(t, err, "not reachable", name)
		require.NotContains(t, err.Error(), "hush", name)
	}
}

func TestShare_ClosedIsUnavailable(t *testing.T) {
	s := openAt(t, silent(t), Options{Call: time.Second})
	require.NoError(t, s.Close())
	_, err := s.List(t.Context(), "")
	require.ErrorIs(t, err, lease.ErrUnavailable)
}

func TestPool_PausesAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pool{}
		down := fmt.Errorf("%w: down", lease.ErrUnavailable)
		var pauses []time.Duration
		for range 6 {
			p.note(down)
			require.Equal(t, down, p.waiting())
			pauses = append(pauses, p.pause)
		}
		require.Equal(t, firstPause, pauses[0])
		require.Equal(t, mostPause, pauses[5], "the pause stops growing: %v", pauses)
		time.Sleep(mostPause)
		require.NoError(t, p.waiting(), "the pause is over")
		p.note(nil)
		require.NoError(t, p.waiting())
		p.note(fmt.Errorf("%w: %w", lease.ErrDenied, errLogin))
		require.Greater(t, time.Until(p.until), loginPause/2, "an account must not be locked out")
	})
}

func TestJudge(t *testing.T) {
	answer := func(code uint32) error {
		return &os.PathError{Op: "x", Path: "y", Err: &smb2.ResponseError{Code: code}}
	}
	for _, c := range []struct {
		err      error
		want     verdict
		answered bool
	}{
		{os.ErrExist, vExists, true},
		{os.ErrNotExist, vNotExist, true},
		{os.ErrPermission, vDenied, true},
		{answer(stDirectoryNotEmpty), vExists, true},
		{answer(stSharingViolation), vBusy, true},
		{answer(stDeletePending), vBusy, true},
		{answer(stDiskFull), vFull, true},
		{answer(stSessionDeleted), vExpired, false},
		{answer(stNetworkNameGone), vExpired, false},
		{answer(0xC00000E9), vBroken, true}, // an I/O error of the server's: who knows
		{&smb2.TransportError{Err: net.ErrClosed}, vBroken, false},
		{&smb2.InvalidResponseError{Message: "signature"}, vBroken, false},
		{context.DeadlineExceeded, vBroken, false},
	} {
		require.Equal(t, c.want, judge(c.err), "%v", c.err)
		require.Equal(t, c.answered, answered(c.err), "%v", c.err)
	}
}

// An error the server does not explain says nothing about what it did.
func TestShare_UnknownAnswerOfAChangeIsUnknown(t *testing.T) {
	s := openAt(t, "127.0.0.1:1", Options{})
	odd := &failure{verdict: vBroken, sent: true, err: &smb2.ResponseError{Code: 0xC00000E9}}
	require.ErrorIs(t, s.fail(t.Context(), "create", "f", true, odd), lease.ErrUnknown)
	require.ErrorIs(t, s.fail(t.Context(), "read", "f", false, odd), lease.ErrUnavailable)
}

// A full disk is called that, with what to do about it, whichever of the codes
// the server has for it.
func TestShare_FullIsSaid(t *testing.T) {
	s := openAt(t, "127.0.0.1:1", Options{})
	for _, code := range []uint32{stDiskFull, stQuotaExceeded} {
		err := &smb2.ResponseError{Code: code}
		for _, change := range []bool{true, false} {
			got := s.fail(t.Context(), "replace", "f", change, &failure{verdict: judge(err), sent: true, err: err})
			require.ErrorIs(t, got, lease.ErrFull)
			require.ErrorIs(t, got, lease.ErrDenied, "nothing was changed")
			require.NotErrorIs(t, got, lease.ErrUnknown)
			require.ErrorContains(t, got, "share full: no space left in "+s.String()+": free some on the file server")
		}
	}
}

func TestShare_ErrorsOfTheFolderItselfNameIt(t *testing.T) {
	s := openAt(t, "127.0.0.1:1", Options{})
	_, err := s.List(t.Context(), "")
	require.ErrorIs(t, err, lease.ErrUnavailable)
	require.ErrorContains(t, err, "list LEASE_DIR: ")
}

// The pauses are short, grow, and end: a publication finds the gap between two
// readers, and does not hold up the next one for longer than its time.
func TestRetry_PausesGrowAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, last := time.Now(), time.Now()
		var pauses []time.Duration
		f := retry(t.Context(), busy.Replace, vDenied, func() *failure {
			pauses, last = append(pauses, time.Since(last)), time.Now()
			return &failure{verdict: vDenied}
		})
		require.Equal(t, vDenied, f.verdict)
		require.Equal(t, []time.Duration{0, 10 * time.Millisecond, 20 * time.Millisecond, 20 * time.Millisecond}, pauses[:4])
		require.InDelta(t, busy.Replace.Limit.Seconds(), time.Since(begin).Seconds(), 0.03)
		require.Less(t, len(pauses), 120)
	})
	t.Run("other verdicts are not tried again", func(t *testing.T) {
		for _, v := range []verdict{vBroken, vExists, vNotExist, vFull, vExpired} {
			calls := 0
			retry(t.Context(), busy.Replace, vDenied, func() *failure { calls++; return &failure{verdict: v} })
			require.Equal(t, 1, calls)
		}
	})
	t.Run("not longer than its caller waits", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		calls := 0
		retry(ctx, busy.Replace, vDenied, func() *failure { calls++; return &failure{verdict: vBusy} })
		require.Equal(t, 1, calls)
	})
}
