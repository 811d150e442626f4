package lease_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
	"github.com/convertfw/floatrelay/lease/sharetest"
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
				target.Publications = 200
			}
			sharetest.ViewIsSeenWhole(t, target)
		})
	}
}

// readSlowly reads a file as the oldest programs do, one byte per call, and
// keeps it open meanwhile.
func readSlowly(f *os.File) (body []byte, err error) {
	defer f.Close()
	one := make([]byte, 1)
	for {
		n, err := f.Read(one)
		if n == 0 || err != nil {
			return body, nil
		}
		body = append(body, one[0])
		if len(body)%100 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
