//go:build !windows

package lease_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// momentary: a rename hides the name at no instant.
func momentary(error) bool { return false }

// foreignReaders are ways to read a file, all at once: nothing one reader does
// can hinder a rename here.
func foreignReaders(path string) map[string]map[string]func() ([]byte, error) {
	share := lease.NewDir(filepath.Dir(path))
	return map[string]map[string]func() ([]byte, error){"all at once": {
		"whole": func() ([]byte, error) { return os.ReadFile(path) },
		"byte by byte": func() ([]byte, error) {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			return readSlowly(f)
		},
		"writable": func() ([]byte, error) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				return nil, err
			}
			return readSlowly(f)
		},
		"floatrelay": func() ([]byte, error) { return share.Read(context.Background(), lease.ViewName) },
	}}
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

// What cannot be replaced keeps its content, and the error says so.
func TestView_PublicationThatIsRefused(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(folder, lease.ViewName), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, lease.ViewName, "old"), nil, 0o600))
	chain := lease.NewChain(lease.NewDir(folder))
	err := chain.Publish(t.Context(), lease.View{KMSN: "4711"})
	require.Error(t, err)
	require.ErrorContains(t, err, "publish the view: relay_leader.json in "+folder+" is a folder: remove that folder: replace relay_leader.json")
	require.NotErrorIs(t, err, lease.ErrUnknown)
	names, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, names, 1, "a temporary file is left behind")
}

// A read-only file is replaced all the same, as a rename asks only for the
// right to the folder; nobody who has the old one open is disturbed.
func TestView_PublicationOverAReadOnlyFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, lease.ViewName)
	chain := lease.NewChain(lease.NewDir(folder))
	view := lease.View{KMSN: "4711", Station: "A", IP: "192.168.1.10", Port: 9530, Epoch: 1, LeaseUntil: "20260115123000", V: lease.Version}
	require.NoError(t, chain.Publish(t.Context(), view))
	require.NoError(t, os.Chmod(path, 0o444))
	reader, err := os.Open(path)
	require.NoError(t, err)
	defer reader.Close()
	old := view
	view.Epoch = 2
	require.NoError(t, chain.Publish(t.Context(), view))
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(view.Encode()), string(body))
	body, err = readSlowly(reader)
	require.NoError(t, err)
	require.Equal(t, string(old.Encode()), string(body))
	names, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, names, 1, "a temporary file is left behind")
}
