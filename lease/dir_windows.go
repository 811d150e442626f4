package lease

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// shareAll lets every other program read, write, rename and delete a file while
// we have it open.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

func hostSystem() system {
	return system{
		create: createNewFile,
		open: func(path string) (io.ReadCloser, error) {
			return openFile(path, windows.GENERIC_READ, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL)
		},
		list: listOnline,
		rename: func(from, to string) error {
			return moveFile(from, to, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		},
		move: func(from, to string) error {
			return moveFile(from, to, windows.MOVEFILE_WRITE_THROUGH)
		},
		mkdir:  func(path string) error { return os.Mkdir(path, 0o777) },
		remove: os.Remove,
		exists: nameExists,
		judge:  judgeWindows,

		space: spaceIn, modified: modifiedAt,
	}
}

func judgeWindows(err error) verdict {
	var code syscall.Errno
	switch {
	case errors.Is(err, errOffline):
		return vGone
	case errors.As(err, &code):
		return winVerdict(uint32(code))
	}
	return vBroken
}

func openFile(path string, access, disposition, flags uint32) (*os.File, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(p, access, shareAll, nil, disposition, flags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// createNewFile creates a file that must not exist, and refuses the Offline
// Files cache: there every PC's create would succeed.
func createNewFile(path string) (handle, error) {
	f, err := openFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.CREATE_NEW,
		windows.FILE_ATTRIBUTE_NORMAL|windows.FILE_FLAG_WRITE_THROUGH)
	if err != nil {
		return nil, err
	}
	if !offline(windows.Handle(f.Fd())) {
		return f, nil
	}
	err = errors.Join(f.Close(), os.Remove(path))
	if err != nil {
		return nil, fmt.Errorf("created in the Offline Files cache and not removed: %s", err.Error())
	}
	return nil, errOffline
}

// errOffline says that Windows answered from its Offline Files cache.
var errOffline = errors.New("answered from Windows' Offline Files cache: the server is not reachable; turn Offline Files off for this share")

// Of FILE_REMOTE_PROTOCOL_INFO only the flags matter. Figures in bytes.
const (
	remoteInfoSize     = 256 // more than any version of it
	remoteFlagsAt      = 16
	remoteFlagsOffline = 0x2
)

// offline reports whether a file was opened from the Offline Files cache. Local
// files have no remote protocol; the question itself fails for them.
func offline(h windows.Handle) bool {
	var info [remoteInfoSize / 4]uint32
	err := windows.GetFileInformationByHandleEx(h, windows.FileRemoteProtocolInfo,
		(*byte)(unsafe.Pointer(&info[0])), remoteInfoSize)
	return err == nil && info[remoteFlagsAt/4]&remoteFlagsOffline != 0
}

// listOnline lists a folder, unless the Offline Files cache would answer: a
// takeover rests on what a listing did not show.
func listOnline(path string) ([]string, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(p, windows.FILE_READ_ATTRIBUTES, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return nil, &os.PathError{Op: "list", Path: path, Err: err}
	}
	cached := offline(h)
	if err := windows.CloseHandle(h); err != nil {
		return nil, err
	}
	if cached {
		return nil, errOffline
	}
	return listNames(path)
}

func moveFile(from, to string, flags uint32) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	if err := windows.MoveFileEx(f, t, flags); err != nil {
		return &os.LinkError{Op: "move", Old: from, New: to, Err: err}
	}
	return nil
}

func nameExists(path string) error {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	_, err = windows.GetFileAttributes(p)
	return err
}
