package lease_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/sharetest"
	"github.com/convertfw/floatrelay/lease"
)

// Whoever opens relay_leader.json, at any moment and in any way other programs
// do, sees a whole one.
func TestView_ReadersSeeWholeFilesOnly(t *testing.T) {
	folder := t.TempDir()
	for name, readers := range foreignReaders(filepath.Join(folder, lease.ViewName)) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(filepath.Join(folder, lease.ViewName)))
			target := sharetest.ViewTarget{Write: lease.NewDir(folder), Readers: readers, Momentary: momentary}
			if testing.Short() {
				target.Publications = 250 // 1,000 in all for the four ways of Windows
			}
			sharetest.ViewIsSeenWhole(t, target)
		})
	}
}
