//go:build e2e

package smb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sambatest"
	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/smb"
)

// behindProxy returns a share whose server is reached through a proxy, the
// folder it holds, and the proxy.
func behindProxy(t *testing.T, server *sambatest.Server, opt smb.Options) (*smb.Share, string, *proxy) {
	t.Helper()
	folder, err := os.MkdirTemp(server.Folder, "socket")
	require.NoError(t, err)
	p := newProxy(t, server.Addr())
	return open(t, sambatest.URL(p.addr(), sambatest.Share, filepath.Base(folder)), opt), folder, p
}

func TestShare_BrokenConnections(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	short := smb.Options{Call: time.Second}

	t.Run("a create whose answer is lost is unknown, and was made", func(t *testing.T) {
		s, folder, p := behindProxy(t, server, smb.Options{})
		p.fates(once(cmdCreate, resetAfter))
		err := s.Create(t.Context(), "a.lock", []byte("x"))
		require.ErrorIs(t, err, lease.ErrUnknown)
		require.NotErrorIs(t, err, lease.ErrNotExist)
		require.FileExists(t, filepath.Join(folder, "a.lock"))
		require.ErrorIs(t, s.Create(t.Context(), "a.lock", []byte("x")), lease.ErrExists)
	})
	t.Run("a create that never arrived is unknown, and is not tried again", func(t *testing.T) {
		s, folder, p := behindProxy(t, server, smb.Options{})
		_, err := s.List(t.Context(), "") // leaves a connection to be used again
		require.NoError(t, err)
		p.fates(once(cmdCreate, resetNow))
		require.ErrorIs(t, s.Create(t.Context(), "a.lock", []byte("x")), lease.ErrUnknown)
		require.NoFileExists(t, filepath.Join(folder, "a.lock"))
	})
	for what, cmd := range map[string]int{"write": cmdWrite, "flush": cmdFlush} {
		t.Run("a "+what+" whose answer is lost leaves a name without a certain body", func(t *testing.T) {
			s, _, p := behindProxy(t, server, smb.Options{})
			p.fates(once(cmd, resetAfter))
			require.ErrorIs(t, s.Create(t.Context(), "a.lock", []byte("x")), lease.ErrNoBody)
			require.ErrorIs(t, s.Create(t.Context(), "a.lock", []byte("x")), lease.ErrExists)
		})
	}
	t.Run("a replacement whose answer is lost is unknown", func(t *testing.T) {
		s, _, p := behindProxy(t, server, smb.Options{})
		p.fates(once(cmdSetInfo, resetAfter))
		require.ErrorIs(t, s.Replace(t.Context(), "view", []byte("x")), lease.ErrUnknown)
		got, err := s.Read(t.Context(), "view")
		require.NoError(t, err)
		require.Equal(t, "x", string(got))
	})
	t.Run("a read goes on over a new connection", func(t *testing.T) {
		s, folder, p := behindProxy(t, server, smb.Options{})
		require.NoError(t, os.WriteFile(filepath.Join(folder, "f"), []byte("x"), 0o666))
		_, err := s.List(t.Context(), "")
		require.NoError(t, err)
		p.fates(once(cmdCreate, resetNow))
		got, err := s.Read(t.Context(), "f")
		require.NoError(t, err)
		require.Equal(t, "x", string(got))
	})
	t.Run("an idle connection that was reset costs nothing", func(t *testing.T) {
		inTime(t, func(tries int) bool {
			s, _, p := behindProxy(t, server, smb.Options{})
			require.NoError(t, s.Create(t.Context(), "a", nil))
			p.reset()
			time.Sleep(50 * time.Millisecond << tries) // the reset arrives
			return s.Create(t.Context(), "b", nil) == nil
		})
	})
	t.Run("a stalled change is unknown when its time is over", func(t *testing.T) {
		inTime(t, func(int) bool {
			s, _, p := behindProxy(t, server, short)
			connect(t, s)
			p.stalled.Store(true)
			defer p.stalled.Store(false)
			begin := time.Now()
			require.ErrorIs(t, s.Create(t.Context(), "a.lock", nil), lease.ErrUnknown)
			took := time.Since(begin).Seconds()
			require.Greater(t, took, 0.3)
			_, err := s.Read(t.Context(), "a.lock")
			require.ErrorIs(t, err, lease.ErrUnavailable)
			require.NotErrorIs(t, err, lease.ErrNotExist)
			return took < 1.7
		})
	})
	t.Run("a create that was given up still gets its body", func(t *testing.T) {
		s, folder, p := behindProxy(t, server, short)
		connect(t, s)
		held := make(chan struct{})
		p.fates(func(frame []byte) fate {
			if command(frame) == cmdWrite {
				<-held // the name is there by now
			}
			return pass
		})
		require.ErrorIs(t, s.Create(t.Context(), "a.lock", []byte("whole")), lease.ErrUnknown)
		require.Eventually(t, func() bool {
			got, err := os.ReadFile(filepath.Join(folder, "a.lock"))
			return err == nil && len(got) == 0
		}, 30*time.Second, 20*time.Millisecond)
		close(held)
		require.Eventually(t, func() bool {
			got, err := os.ReadFile(filepath.Join(folder, "a.lock"))
			return err == nil && string(got) == "whole"
		}, 30*time.Second, 20*time.Millisecond)
	})
	t.Run("a stalled lane stalls no other", func(t *testing.T) {
		s, _, p := behindProxy(t, server, smb.Options{})
		held, reached := make(chan struct{}), make(chan struct{}, 9)
		p.fates(func(frame []byte) fate {
			if command(frame) == cmdFlush {
				reached <- struct{}{}
				<-held
			}
			return pass
		})
		done := make(chan error, 1)
		go func() { done <- s.Create(t.Context(), "stuck", []byte("x")) }()
		<-reached
		for range 5 {
			_, err := s.List(t.Context(), "")
			require.NoError(t, err)
		}
		close(held)
		require.NoError(t, <-done)
	})
	t.Run("after one connection was lost no other is trusted", func(t *testing.T) {
		inTime(t, func(int) bool {
			s, _, p := behindProxy(t, server, short)
			var wg sync.WaitGroup
			var made atomic.Int32
			for i := range 3 { // leave three idle connections
				wg.Go(func() {
					if s.Create(t.Context(), fmt.Sprint(i), nil) == nil {
						made.Add(1)
					}
				})
			}
			if wg.Wait(); made.Load() < 3 {
				return false
			}
			p.lose()
			require.ErrorIs(t, s.Create(t.Context(), "a", nil), lease.ErrUnknown)
			begin := time.Now()
			err := s.Create(t.Context(), "b", nil)
			return err == nil && time.Since(begin) < 800*time.Millisecond
		})
	})
	t.Run("the server restarts", func(t *testing.T) {
		s, _, _ := behindProxy(t, server, short)
		createsAgain(t, s)
		server.Stop()
		err := s.Create(t.Context(), "b", nil)
		require.NotErrorIs(t, err, lease.ErrNotExist)
		require.NotErrorIs(t, err, lease.ErrExists)
		require.Error(t, err)
		_, err = s.Read(t.Context(), "again1")
		require.ErrorIs(t, err, lease.ErrUnavailable)
		server.Run(t)
		createsAgain(t, s)
	})
	t.Run("the server freezes and resumes", func(t *testing.T) {
		s, _, _ := behindProxy(t, server, short)
		createsAgain(t, s)
		server.Freeze()
		require.ErrorIs(t, s.Create(t.Context(), "b", nil), lease.ErrUnknown)
		server.Resume()
		createsAgain(t, s)
	})
}

// inTime lets try succeed within its bound once in five times: a machine with
// other things to do may take longer, a fault of ours takes longer each time.
func inTime(t *testing.T, try func(tries int) bool) {
	t.Helper()
	for tries := 0; !try(tries); tries++ {
		require.Less(t, tries, 4, "never in time")
	}
}

// connect leaves a connection to be used again: a share with little time may not
// get one at the first try.
func connect(t *testing.T, s *smb.Share) {
	t.Helper()
	require.Eventually(t, func() bool { _, err := s.List(t.Context(), ""); return err == nil }, 30*time.Second, 50*time.Millisecond)
}

// createsAgain waits until a file can be made. One whose making was given up is
// there all the same, so each try has a name of its own.
func createsAgain(t *testing.T, s *smb.Share) {
	t.Helper()
	n := 0
	require.Eventually(t, func() bool {
		n++
		return s.Create(t.Context(), fmt.Sprint("again", n), nil) == nil
	}, 30*time.Second, 50*time.Millisecond)
}

func TestShare_LeavesNothingRunning(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	s, _, p := behindProxy(t, server, smb.Options{Call: 300 * time.Millisecond})
	connect(t, s)
	before := runtime.NumGoroutine()
	p.stalled.Store(true)
	for i := range 10 {
		require.Error(t, s.Create(t.Context(), fmt.Sprint(i), nil))
	}
	p.reset()
	p.stalled.Store(false)
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before }, 30*time.Second, 20*time.Millisecond,
		"calls that were given up left goroutines behind")
}

// A technician reads these.
func TestShare_SaysWhatIsWrong(t *testing.T) {
	server := sambatest.Start(t, sambatest.Options{})
	require.NoError(t, os.Mkdir(filepath.Join(server.Folder, "socket"), 0o777))
	closed := newProxy(t, server.Addr())
	_ = closed.l.Close()
	for name, c := range map[string]struct {
		url, password string
		want          error
		says          string
	}{
		"host not reachable": {sambatest.URL(closed.addr(), sambatest.Share, "socket"), sambatest.Password, lease.ErrUnavailable, "host " + closed.addr() + " not reachable"},
		"wrong password":     {server.URL("socket"), "secret-of-mine", lease.ErrDenied, "wrong user name or password for root on " + server.Addr()},
		"no such share":      {sambatest.URL(server.Addr(), "nowhere", "socket"), sambatest.Password, lease.ErrUnavailable, "no such share: nowhere"},
		"no write access":    {sambatest.URL(server.Addr(), sambatest.ReadOnly, "socket"), sambatest.Password, lease.ErrDenied, "no write access"},
		"folder missing":     {server.URL("missing"), sambatest.Password, lease.ErrUnavailable, "folder missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := smb.Open(c.url, c.password, smb.Options{})
			require.NoError(t, err)
			defer s.Close()
			err = s.Create(t.Context(), "a.lock", nil)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.says)
			require.NotErrorIs(t, err, lease.ErrNotExist)
			require.NotContains(t, err.Error()+s.String(), c.password)
			t.Log(err)
		})
	}
	t.Run("a refused login is not repeated at once", func(t *testing.T) {
		p := newProxy(t, server.Addr())
		s, err := smb.Open(sambatest.URL(p.addr(), sambatest.Share, "socket"), "wrong", smb.Options{})
		require.NoError(t, err)
		defer s.Close()
		for range 20 {
			_, err := s.List(t.Context(), "")
			require.ErrorIs(t, err, lease.ErrDenied)
		}
		require.EqualValues(t, 1, p.accepted.Load())
	})
}
