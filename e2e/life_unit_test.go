//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeLife writes a life log with a line every 4 ms over each stretch.
func writeLife(t *testing.T, s *site, station string, epoch int, ms ...[2]int) {
	t.Helper()
	p := &pc{s: s, station: station, dir: t.TempDir()}
	s.pcs = append(s.pcs, p)
	text := ""
	for _, m := range ms {
		for at := m[0]; at <= m[1]; at += 4 {
			what := "alive"
			if at == ms[0][0] {
				what = "listen"
			}
			text += fmt.Sprintf("%s 7 %d %d %s\n", what, at*int(time.Millisecond), epoch, station)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "life"), []byte(text), 0o644))
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
}
