package lease_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/convertfw/floatrelay/internal/testkit/wine"
	"github.com/convertfw/floatrelay/lease"
)

// shareModes are what programs allow others while they have a file open.
var shareModes = map[string]uint32{
	"everything allowed":            windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE,
	"no delete (Harbour, Python)":   windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE,
	"reading only (old programs)":   windows.FILE_SHARE_READ,
	"exclusive (antivirus, backup)": 0,
}

// momentary: at the instant of a rename an open is refused.
func momentary(err error) bool {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return false
	}
	switch windows.Errno(code) {
	case windows.ERROR_ACCESS_DENIED, windows.ERROR_SHARING_VIOLATION, windows.ERROR_DELETE_PENDING:
		return true
	}
	return false
}

func openWith(path string, mode uint32) (*os.File, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(p, windows.GENERIC_READ, mode, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// foreignReaders are one group per share mode: they would keep each other out.
// A reader that holds the file longer than it leaves it alone would hinder every
// rename; those are tested below.
func foreignReaders(path string) map[string]map[string]func() ([]byte, error) {
	groups := map[string]map[string]func() ([]byte, error){}
	for name, mode := range shareModes {
		groups[name] = map[string]func() ([]byte, error){"whole": func() ([]byte, error) {
			f, err := openWith(path, mode)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return io.ReadAll(f)
		}}
	}
	return groups
}

// published returns a chain with a view on it, and the file's path.
func published(t *testing.T) (chain *lease.Chain, path string) {
	t.Helper()
	folder := t.TempDir()
	chain = lease.NewChain(lease.NewDir(folder))
	require.NoError(t, chain.Publish(t.Context(), viewOf(1)))
	return chain, filepath.Join(folder, lease.ViewName)
}

func viewOf(epoch uint64) lease.View {
	return lease.View{KMSN: "4711", Station: "A", IP: "192.168.1.10", Port: 9530, Epoch: epoch, LeaseUntil: "20260115123000", V: lease.Version}
}

// says demands what the file says, and that nothing lies beside it.
func says(t *testing.T, chain *lease.Chain, path string, epoch uint64) {
	t.Helper()
	f, _, err := chain.ReadFloor(t.Context())
	require.NoError(t, err)
	require.Equal(t, lease.Floor{KMSN: "4711", Epoch: epoch}, f)
	names, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, names, 1, "a temporary file is left behind")
}

// An antivirus that keeps the file for 150 ms delays a publication and does not
// lose it.
func TestView_PublicationWaitsForAMomentaryHolder(t *testing.T) {
	for name, mode := range shareModes {
		t.Run(name, func(t *testing.T) {
			chain, path := published(t)
			f, err := openWith(path, mode)
			require.NoError(t, err)
			time.AfterFunc(150*time.Millisecond, func() { _ = f.Close() })
			require.NoError(t, chain.Publish(t.Context(), viewOf(2)))
			says(t, chain, path, 2)
		})
	}
}

// A program that keeps the file open without letting others delete it hinders
// the publication: a clear error after a while, the old content, and success
// once it has closed the file.
func TestView_PublicationWhileAProgramKeepsItOpen(t *testing.T) {
	chain, path := published(t)
	f, err := openWith(path, shareModes["no delete (Harbour, Python)"])
	require.NoError(t, err)
	begun := time.Now()
	err = chain.Publish(t.Context(), viewOf(2))
	require.ErrorIs(t, err, lease.ErrDenied)
	require.ErrorContains(t, err, "another program keeps it open")
	require.Less(t, time.Since(begun), 30*time.Second) // how long exactly is shown in simulated time
	says(t, chain, path, 1)
	require.NoError(t, f.Close())
	require.NoError(t, chain.Publish(t.Context(), viewOf(2)))
	says(t, chain, path, 2)
}

// Windows refuses to replace a read-only file and the error says what to do;
// wine replaces it.
func TestView_PublicationOverAReadOnlyFile(t *testing.T) {
	chain, path := published(t)
	require.NoError(t, os.Chmod(path, 0o444))
	err := chain.Publish(t.Context(), viewOf(2))
	if err == nil && wine.NotShown(t, "a read-only relay_leader.json that cannot be replaced") {
		says(t, chain, path, 2)
		return
	}
	require.ErrorIs(t, err, lease.ErrDenied)
	require.ErrorContains(t, err, "it is read-only")
	says(t, chain, path, 1)
	require.NoError(t, os.Chmod(path, 0o666))
	require.NoError(t, chain.Publish(t.Context(), viewOf(2)))
	says(t, chain, path, 2)
}
