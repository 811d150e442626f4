//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeLife writes a life log with a line every 4 ms over each stretch.
func writeLife(t *testing.T, s *site, station string, epoch int, ms ...[2]int) {
	t.Helper()
	p := &pc{s: s, station: station, dir: t.TempDir()}
	s.pcs = append(s.pcs, p)
	addLife(t, p, "one", epoch, ms...)
}

// addLife appends the life of one more relay tree to a PC's log.
func addLife(t *testing.T, p *pc, tree string, epoch int, ms ...[2]int) {
	t.Helper()
	text := ""
	for _, m := range ms {
		for at := m[0]; at <= m[1]; at += 4 {
			what := "alive"
			if at == ms[0][0] {
				what = "listen"
			}
			text += fmt.Sprintf("%s 7 %d %d @%s %s\n", what, at*int(time.Millisecond), epoch, tree, p.station)
		}
	}
	f, err := os.OpenFile(p.lifeLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// The measure must be able to fail.
func TestBothRan(t *testing.T) {
	t.Run("one after the other", func(t *testing.T) {
		s := &site{t: t}
		writeLife(t, s, "A", 1, [2]int{100, 1000})
		writeLife(t, s, "B", 2, [2]int{1040, 2000})
		require.Zero(t, s.bothRan(false))
		require.Equal(t, 40*time.Millisecond, s.longestGap(100*time.Millisecond))
	})
	t.Run("two at once", func(t *testing.T) {
		s := &site{t: t}
		writeLife(t, s, "A", 1, [2]int{100, 1000})
		writeLife(t, s, "B", 2, [2]int{980, 2000})
		require.Equal(t, 20*time.Millisecond, s.bothRan(false))
	})
	t.Run("a silence counts as life unless it was frozen", func(t *testing.T) {
		s := &site{t: t}
		writeLife(t, s, "A", 1, [2]int{100, 1000}, [2]int{5000, 5040})
		writeLife(t, s, "B", 2, [2]int{2000, 6000})
		require.Equal(t, 3040*time.Millisecond, s.bothRan(false))
		require.Equal(t, 40*time.Millisecond, s.bothRan(true))
	})
	t.Run("R6: a second tree of the same PC and epoch", func(t *testing.T) {
		s := &site{t: t}
		writeLife(t, s, "A", 1, [2]int{100, 1000})
		addLife(t, s.pcs[0], "two", 1, [2]int{980, 2000})
		require.Equal(t, 20*time.Millisecond, s.bothRan(false))
		require.Equal(t, 20*time.Millisecond, s.bothRan(true))
	})
	t.Run("R6: a relay that crashed and was started again", func(t *testing.T) {
		s := &site{t: t}
		writeLife(t, s, "A", 1, [2]int{100, 1000})
		addLife(t, s.pcs[0], "two", 1, [2]int{1040, 2000})
		require.Zero(t, s.bothRan(false))
		require.Zero(t, s.bothRan(true))
		require.Equal(t, 40*time.Millisecond, s.longestGap(100*time.Millisecond))
	})
}
