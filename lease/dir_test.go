package lease

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease/busy"
)

// code is an error code of Windows, wherever the test runs.
type code uint32

func (c code) Error() string { return "injected code" }

// asWindows makes a dir judge injected codes as Windows would, and everything
// else as the host does.
func asWindows(folder string) *dir {
	d := &dir{base: folder, sys: hostSystem(folder)}
	host := d.sys.judge
	d.sys.judge = func(err error) verdict {
		var c code
		if errors.As(err, &c) {
			return winVerdict(uint32(c))
		}
		return host(err)
	}
	return d
}

// failing returns err for a while after its first call, then nil.
func failing(err error, during time.Duration) func() error {
	var start time.Time
	return func() error {
		if start.IsZero() {
			start = time.Now()
		}
		if time.Since(start) < during {
			return err
		}
		return nil
	}
}

func requireNames(t *testing.T, folder string, names ...string) {
	t.Helper()
	got, err := hostSystem(folder).list("")
	require.NoError(t, err)
	require.ElementsMatch(t, names, got)
}

// A rename over a target that antivirus or a reader keeps open.
func TestCaseB13_BusyTargetIsRetriedForBothCodes(t *testing.T) {
	for name, c := range map[string]code{"ACCESS_DENIED": 5, "SHARING_VIOLATION": 32} {
		t.Run(name+" for 150 ms", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := asWindows(t.TempDir())
				require.NoError(t, d.Replace(t.Context(), ViewName, []byte("old")))
				busy, rename := failing(c, 150*time.Millisecond), d.sys.rename
				d.sys.rename = func(from, to string) error {
					if err := busy(); err != nil {
						return err
					}
					return rename(from, to)
				}
				require.NoError(t, d.Replace(t.Context(), ViewName, []byte("new")))
				requireNames(t, d.base, ViewName)
				b, err := d.Read(t.Context(), ViewName)
				require.NoError(t, err)
				require.Equal(t, "new", string(b))
			})
		})
		t.Run(name+" for 60 s", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := asWindows(t.TempDir())
				require.NoError(t, d.Replace(t.Context(), ViewName, []byte("old")))
				d.sys.rename = func(string, string) error { return c }
				start := time.Now()
				err := d.Replace(t.Context(), ViewName, []byte("new"))
				require.Error(t, err)
				require.NotErrorIs(t, err, ErrUnknown)
				require.ErrorContains(t, err, "another program keeps")
				require.LessOrEqual(t, time.Since(start), busy.Replace.Limit)
				requireNames(t, d.base, ViewName)
				b, err := d.Read(t.Context(), ViewName)
				require.NoError(t, err)
				require.Equal(t, "old", string(b))
			})
		})
	}
}

func TestDir_RetryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := asWindows(t.TempDir())
		d.sys.rename = func(string, string) error { return code(32) }
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		require.Error(t, d.Replace(ctx, ViewName, nil))
		require.Equal(t, 100*time.Millisecond, time.Since(start))
	})
}

// A name still being deleted says "access denied" on Windows, "not found" on
// some mounts.
func TestCaseB14_NameBeingDeletedIsContention(t *testing.T) {
	for name, err := range map[string]error{
		"ACCESS_DENIED": code(5), "DELETE_PENDING": code(303), "SHARING_VIOLATION": code(32), "not found": syscall.ENOENT,
	} {
		t.Run(name+" for a moment", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := asWindows(t.TempDir())
				pending, create := failing(err, 200*time.Millisecond), d.sys.create
				d.sys.create = func(path string) (handle, error) {
					if err := pending(); err != nil {
						return nil, err
					}
					return create(path)
				}
				require.NoError(t, d.Create(t.Context(), "x.lock", []byte("x")))
			})
		})
		t.Run(name+" for long", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := asWindows(t.TempDir())
				d.sys.create = func(string) (handle, error) { return nil, err }
				exists := d.sys.exists
				d.sys.exists = func(path string) error {
					if strings.HasSuffix(path, "x.lock") {
						return code(5)
					}
					return exists(path)
				}
				start := time.Now()
				require.ErrorIs(t, d.Create(t.Context(), "x.lock", []byte("x")), ErrExists)
				require.LessOrEqual(t, time.Since(start), busy.Create.Limit)
			})
		})
	}
}

func TestDir_RefusedNameThatIsThereIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := asWindows(t.TempDir())
		require.NoError(t, d.Create(t.Context(), "x.lock", nil))
		for _, c := range []code{5, 32} {
			d.sys.create = func(string) (handle, error) { return nil, c }
			require.ErrorIs(t, d.Create(t.Context(), "x.lock", nil), ErrExists)
		}
		require.ErrorIs(t, d.Create(t.Context(), "y.lock", nil), ErrUnavailable, "held by somebody, but not there: try later")
	})
}

func TestCaseB15_RealDenialIsToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := asWindows(t.TempDir())
		d.sys.create = func(string) (handle, error) { return nil, code(5) }
		start := time.Now()
		err := d.Create(t.Context(), "x.lock", []byte("x"))
		require.ErrorIs(t, err, ErrDenied)
		require.NotErrorIs(t, err, ErrExists)
		require.ErrorContains(t, err, "no write access to "+d.base)
		require.Less(t, time.Since(start), 10*time.Second)
	})
}

// Stale handles and lost connections are never "no lease".
func TestCaseB17_LostShareIsUnavailable(t *testing.T) {
	for name, err := range map[string]error{
		"ESTALE": syscall.ESTALE, "EIO": syscall.EIO, "NETNAME_DELETED": code(64), "BAD_NETPATH": code(53),
	} {
		t.Run(name, func(t *testing.T) {
			d := asWindows(t.TempDir())
			d.sys.open = func(string) (io.ReadCloser, error) { return nil, err }
			d.sys.list = func(string) ([]string, error) { return nil, err }
			d.sys.create = func(string) (handle, error) { return nil, err }
			_, readErr := d.Read(t.Context(), ViewName)
			require.ErrorIs(t, readErr, ErrUnavailable)
			require.ErrorContains(t, readErr, "share unavailable")
			_, listErr := NewChain(d).List(t.Context())
			require.ErrorIs(t, listErr, ErrUnavailable)
			createErr := d.Create(t.Context(), "x.lock", nil)
			require.NotErrorIs(t, createErr, ErrNotExist)
			require.NotErrorIs(t, createErr, ErrExists)
		})
	}
}

// badHandle fails at one stage after the file exists.
type badHandle struct {
	handle
	stage string
	err   error
}

func (h badHandle) Write(b []byte) (int, error) {
	if h.stage == "write" {
		return 0, h.err
	}
	return h.handle.Write(b)
}

func (h badHandle) Sync() error {
	if h.stage == "sync" {
		return h.err
	}
	return h.handle.Sync()
}

func (h badHandle) Close() error {
	err := h.handle.Close()
	if h.stage == "close" {
		return h.err
	}
	return err
}

func TestDir_FailedBodyIsNoBodyAndLeavesTheViewAlone(t *testing.T) {
	for _, stage := range []string{"write", "sync", "close"} {
		for name, cause := range map[string]error{"disk full": errDiskFull, "connection lost": syscall.EIO} {
			t.Run(stage+" "+name, func(t *testing.T) {
				d := asWindows(t.TempDir())
				require.NoError(t, d.Replace(t.Context(), ViewName, []byte("old")))
				create := d.sys.create
				d.sys.create = func(path string) (handle, error) {
					h, err := create(path)
					return badHandle{h, stage, cause}, err
				}
				err := d.Create(t.Context(), "x.lock", []byte("x"))
				require.ErrorIs(t, err, ErrNoBody)
				require.ErrorIs(t, err, cause)
				requireFull(t, err, cause, d.base)
				require.ErrorIs(t, d.Create(t.Context(), "x.lock", nil), ErrExists)

				err = d.Replace(t.Context(), ViewName, []byte("new"))
				require.ErrorIs(t, err, cause)
				require.NotErrorIs(t, err, ErrUnknown)
				requireFull(t, err, cause, d.base)
				requireNames(t, d.base, ViewName, "x.lock")
				b, err := d.Read(t.Context(), ViewName)
				require.NoError(t, err)
				require.Equal(t, "old", string(b))
			})
		}
	}
}

func TestDir_ListAsksTwiceBeforeSayingNotThere(t *testing.T) {
	d := asWindows(t.TempDir())
	list, asked := d.sys.list, 0
	d.sys.list = func(path string) ([]string, error) {
		if asked++; asked == 1 {
			return nil, syscall.ENOENT // just being mounted
		}
		return list(path)
	}
	require.NoError(t, d.Mkdir(t.Context(), "d"))
	_, err := d.List(t.Context(), "d")
	require.NoError(t, err)
	require.Equal(t, 2, asked)
}

func TestDir_ReadIsBounded(t *testing.T) {
	d := NewDir(t.TempDir())
	require.NoError(t, d.Create(t.Context(), "big", make([]byte, maxRead+5)))
	b, err := d.Read(t.Context(), "big")
	require.NoError(t, err)
	require.Len(t, b, maxRead)
}

func TestDir_FolderInPlaceOfAFileIsNotNotThere(t *testing.T) {
	d := NewDir(t.TempDir())
	require.NoError(t, d.Mkdir(t.Context(), "x.lock"))
	_, err := d.Read(t.Context(), "x.lock")
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrNotExist)
	require.ErrorIs(t, d.Create(t.Context(), "x.lock", nil), ErrExists)
}

func TestDir_NeverCreatesLeaseDir(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "socket")
	d := NewDir(folder)
	err := d.Create(t.Context(), "x", nil)
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "never created")
	_, err = os.Stat(folder)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// requireFull demands that a full disk is called that, with what to do about
// it, and that nothing else is.
func requireFull(t *testing.T, err, cause error, base string) {
	t.Helper()
	if !errors.Is(cause, errDiskFull) {
		require.NotErrorIs(t, err, ErrFull)
		return
	}
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, "share full: no space left in "+base+": free some on the file server")
}

// The texts of errors about LEASE_DIR itself name it.
func TestDir_ErrorsOfTheFolderItselfNameIt(t *testing.T) {
	d := NewDir(filepath.Join(t.TempDir(), "missing"))
	_, err := d.List(t.Context(), "")
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, "list LEASE_DIR: share unavailable: ")
}
