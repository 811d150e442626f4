//go:build !windows

package lease

import (
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// errDiskFull is what this system says when there is no space.
const errDiskFull = syscall.ENOSPC

func TestUnixVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		code         syscall.Errno
		read, change error
	}{
		"ENOENT":    {syscall.ENOENT, ErrNotExist, ErrNotExist},
		"EEXIST":    {syscall.EEXIST, ErrExists, ErrExists},
		"ENOTEMPTY": {syscall.ENOTEMPTY, ErrExists, ErrExists},
		"EACCES":    {syscall.EACCES, ErrDenied, ErrDenied},
		"EPERM":     {syscall.EPERM, ErrDenied, ErrDenied},
		"EROFS":     {syscall.EROFS, ErrDenied, ErrDenied},
		"ENOTDIR":   {syscall.ENOTDIR, ErrDenied, ErrDenied},
		"ENOSPC":    {syscall.ENOSPC, ErrFull, ErrFull},
		"EBUSY":     {syscall.EBUSY, ErrUnavailable, ErrUnavailable},
		"ESTALE":    {syscall.ESTALE, ErrUnavailable, ErrUnavailable},
		"EMFILE":    {syscall.EMFILE, ErrUnavailable, ErrUnavailable},
		"EIO":       {syscall.EIO, ErrUnavailable, ErrUnknown},
		"ETIMEDOUT": {syscall.ETIMEDOUT, ErrUnavailable, ErrUnknown},
		"ENOTCONN":  {syscall.ENOTCONN, ErrUnavailable, ErrUnknown},
		"EHOSTDOWN": {syscall.EHOSTDOWN, ErrUnavailable, ErrUnknown},
		"ENETDOWN":  {syscall.ENETDOWN, ErrUnavailable, ErrUnknown},
		"EINTR":     {syscall.EINTR, ErrUnavailable, ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			v := unixVerdict(&os.PathError{Op: "open", Path: "x", Err: tc.code})
			require.Equal(t, tc.read, v.sentinel(false))
			require.Equal(t, tc.change, v.sentinel(true))
		})
	}
	require.Equal(t, vBroken, unixVerdict(io.ErrUnexpectedEOF))
}

func TestMoveChecked_FailsOntoAnything(t *testing.T) {
	d := t.TempDir()
	for _, name := range []string{"from", "empty", "full"} {
		require.NoError(t, os.Mkdir(d+"/"+name, 0o777))
	}
	require.NoError(t, os.WriteFile(d+"/full/f", nil, 0o666))
	require.NoError(t, os.WriteFile(d+"/file", nil, 0o666))
	move := func(from, to string) error { return unixFolder(d).both(from, to, moveChecked) }
	for _, to := range []string{"empty", "full", "file"} {
		require.Equal(t, vExists, unixVerdict(move("from", to)), to)
	}
	require.NoError(t, move("from", "to"))
}

// A folder that may be read only: nothing can be made there, so the view stays
// what it was.
func TestDir_ReadOnlyFolderLeavesTheViewAlone(t *testing.T) {
	for _, refusal := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.EROFS} {
		d := NewDir(t.TempDir()).(*dir)
		require.NoError(t, d.Replace(t.Context(), ViewName, []byte("old")))
		create := d.sys.create
		d.sys.create = func(path string) (handle, error) {
			return nil, &os.PathError{Op: "open", Path: path, Err: refusal}
		}
		err := d.Replace(t.Context(), ViewName, []byte("new"))
		require.ErrorIs(t, err, ErrDenied)
		require.NotErrorIs(t, err, ErrUnknown)
		require.ErrorContains(t, err, "no write access to "+d.base)
		requireNames(t, d.base, ViewName)
		b, err := d.Read(t.Context(), ViewName)
		require.NoError(t, err)
		require.Equal(t, "old", string(b))
		d.sys.create = create
		require.NoError(t, d.Replace(t.Context(), ViewName, []byte("new")))
	}
}
