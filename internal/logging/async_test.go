package logging

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// sink is a writer whose blocking and failing can be switched.
type sink struct {
	mu    sync.Mutex
	text  bytes.Buffer
	gate  chan struct{} // when set, Write waits for it
	fails error
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return 0, s.fails
	}
	return s.text.Write(p)
}

func (s *sink) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Split(strings.TrimSuffix(s.text.String(), "\n"), "\n")
}

func (s *sink) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// A user who marks text in the console must not stop a renewal.
func TestAsync_ABlockedSinkBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		a := NewAsync(s)
		begin := time.Now()
		const written = 3 * queueLines
		for i := range written {
			n, err := fmt.Fprintf(a, "line %d\n", i)
			require.NoError(t, err)
			require.Positive(t, n)
		}
		synctest.Wait()
		require.Zero(t, time.Since(begin))
		require.False(t, a.Flush(time.Second))
		require.Equal(t, time.Second, time.Since(begin))

		lost := a.Dropped()
		require.InDelta(t, written-queueLines, lost, 1, "one may be on its way already")
		close(s.gate)
		require.True(t, a.Close(time.Second))
		got := s.lines()
		require.Len(t, got, written-int(lost)+strings.Count(s.text.String(), "lost"))
		require.Equal(t, lost, told(t, got))
		require.Regexp(t, `^\(\d+ lines lost`, got[len(got)-1], "where they are missing: at the end")
	})
}

// told adds up what the notices say was lost.
func told(t *testing.T, lines []string) (sum uint64) {
	t.Helper()
	for _, line := range lines {
		if strings.HasPrefix(line, "(") {
			var n uint64
			_, err := fmt.Sscanf(line, "(%d lines lost: the log could not be written fast enough)", &n)
			require.NoError(t, err)
			sum += n
		}
	}
	return sum
}

func TestAsync_ALossIsToldWhereItHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		a := NewAsync(s)
		_, _ = fmt.Fprintln(a, "first")
		synctest.Wait() // it is with the sink now
		for i := range queueLines + 10 {
			_, _ = fmt.Fprintln(a, i)
		}
		s.set(func() { close(s.gate); s.gate = nil })
		synctest.Wait()
		_, _ = fmt.Fprintln(a, "last")
		require.True(t, a.Close(time.Second))
		got := s.lines()
		require.Equal(t, []string{
			fmt.Sprint(queueLines - 1), "(10 lines lost: the log could not be written fast enough)", "last",
		}, got[len(got)-3:])
	})
}

func TestAsync_KeepsOrderAndFlushesOnClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{}
		a := NewAsync(s)
		want := []string{}
		for i := range 100 {
			want = append(want, fmt.Sprint(i))
			_, _ = fmt.Fprintln(a, i)
		}
		require.True(t, a.Close(time.Second))
		require.True(t, a.Close(time.Second), "twice is fine")
		require.Equal(t, want, s.lines())
		_, err := a.Write([]byte("late"))
		require.NoError(t, err)
		require.Equal(t, uint64(1), a.Dropped())
	})
}

func TestAsync_QueueIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		a := NewAsync(s)
		long := bytes.Repeat([]byte("x"), maxLine)
		for range queueLines {
			_, _ = a.Write(long)
		}
		require.InDelta(t, queueLines-queueBytes/maxLine, a.Dropped(), 2)
		close(s.gate)
		require.True(t, a.Close(time.Second))
	})
}

func TestAsync_LinesTheSinkRefusesAreCountedAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{fails: errors.New("disk full")}
		a := NewAsync(s)
		_, _ = a.Write([]byte("one"))
		synctest.Wait()
		_, _ = a.Write([]byte("two"))
		synctest.Wait()
		s.set(func() { s.fails = nil })
		_, _ = a.Write([]byte("three"))
		require.True(t, a.Close(time.Second))
		require.Equal(t, uint64(2), a.Dropped())
		require.Equal(t, []string{"(2 lines lost: the log could not be written fast enough)", "three"}, s.lines())
	})
}

func TestAsync_DoesNotKeepTheCallersBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		a := NewAsync(s)
		buf := []byte("before")
		_, _ = a.Write(buf)
		copy(buf, "AFTER!")
		close(s.gate)
		require.True(t, a.Close(time.Second))
		require.Equal(t, []string{"before"}, s.lines())
	})
}
