package lease

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// asNobody runs call on a thread without rights over other users' files (root
// passes every permission check). The thread ends with it.
func asNobody(t *testing.T, call func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		var err error
		if os.Geteuid() == 0 {
			err = unix.Setfsuid(65534)
		}
		call()
		done <- err
	}()
	require.NoError(t, <-done)
}

func TestDir_FolderWithoutWriteAccess(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(folder+"/"+ViewName, []byte("old"), 0o644))
	require.NoError(t, os.Chmod(filepath.Dir(folder), 0o755)) // reachable, so that only the folder refuses
	require.NoError(t, os.Chmod(folder, 0o555))
	t.Cleanup(func() { _ = os.Chmod(folder, 0o755) })
	d := NewDir(folder)
	var readErr error
	asNobody(t, func() { _, readErr = d.Read(t.Context(), ViewName) })
	require.NoError(t, readErr)
	calls := map[string]func() error{
		"create":  func() error { return d.Create(t.Context(), "x.lock", nil) },
		"replace": func() error { return d.Replace(t.Context(), ViewName, []byte("new")) },
		"mkdir":   func() error { return d.Mkdir(t.Context(), "d") },
		"remove":  func() error { return d.Remove(t.Context(), ViewName) },
		"found":   func() error { return NewChain(d).Found(t.Context(), testShare, 1, []byte("x")) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			var err error
			asNobody(t, func() { err = call() })
			require.ErrorIs(t, err, ErrDenied)
			require.ErrorContains(t, err, "no write access to "+folder)
		})
	}
	requireNames(t, folder, ViewName)
}
