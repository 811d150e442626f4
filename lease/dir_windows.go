package lease

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// shareAll lets every other program read, write, rename and delete a file while
// we have it open.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

func hostSystem(base string) system {
	if abs, err := filepath.Abs(base); err == nil {
		base = abs // what is longer than MAX_PATH must be absolute
	}
	w := winFolder(base)
	return system{
		create: w.create,
		open:   func(name string) (io.ReadCloser, error) { return w.open(name) },
		list:   w.list,
		rename: func(from, to string) error {
			return w.move(from, to, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		},
		move:   func(from, to string) error { return w.move(from, to, windows.MOVEFILE_WRITE_THROUGH) },
		mkdir:  w.at(func(path string) error { return os.Mkdir(path, 0o777) }),
		remove: w.at(os.Remove),
		exists: w.at(func(path string) error { _, err := attributes(path); return err }),
		judge:  judgeWindows,

		space:    func() (free, total uint64, err error) { return spaceIn(longPath(base)) },
		modified: w.modified,
	}
}

// winFolder reaches names below LEASE_DIR. The path of LEASE_DIR itself may
// hold links, junctions and drive letters; below it every folder on the way is
// looked at first, and the last name is opened as it stands.
type winFolder string

// path returns the path of a name all of whose folders are folders.
func (w winFolder) path(name string) (string, error) {
	full := string(w)
	parts := strings.Split(name, "/")
	if name == "" {
		return longPath(full), nil
	}
	for i, part := range parts[:len(parts)-1] {
		full += `\` + part
		attrs, err := attributes(longPath(full))
		if err == nil {
			err = oddAttributes(strings.Join(parts[:i+1], "/"), attrs, true)
		}
		if err != nil {
			return "", &os.PathError{Op: "enter", Path: full, Err: err}
		}
	}
	return longPath(full + `\` + parts[len(parts)-1]), nil
}

// at makes a call on names out of one on paths.
func (w winFolder) at(call func(path string) error) func(name string) error {
	return func(name string) error {
		path, err := w.path(name)
		if err != nil {
			return err
		}
		return call(path)
	}
}

// oddAttributes returns an error unless the attributes are those of a regular
// file, or of a folder.
func oddAttributes(name string, attrs uint32, folder bool) error {
	isFolder := attrs&windows.FILE_ATTRIBUTE_DIRECTORY != 0
	switch {
	case attrs&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		return Irregular(name, "a link, a junction or another reparse point", folder)
	case isFolder && !folder:
		return Irregular(name, "a folder", folder)
	case !isFolder && folder:
		return Irregular(name, "a file", folder)
	}
	return nil
}

// attributes asks for a name without following it.
func attributes(path string) (uint32, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	return windows.GetFileAttributes(p)
}

// open opens a regular file.
func (w winFolder) open(name string) (*os.File, error) {
	path, err := w.path(name)
	if err != nil {
		return nil, err
	}
	f, err := openFile(path, windows.GENERIC_READ, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL)
	if err != nil {
		if attrs, asked := attributes(path); asked == nil && oddAttributes(name, attrs, false) != nil {
			err = oddAttributes(name, attrs, false) // a folder says "access denied"
		}
		return nil, err
	}
	if err := oddHandle(name, windows.Handle(f.Fd()), false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// oddHandle is oddAttributes of what was opened.
func oddHandle(name string, h windows.Handle, folder bool) error {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return err
	}
	return oddAttributes(name, info.FileAttributes, folder)
}

func (w winFolder) move(from, to string, flags uint32) error {
	from, err := w.path(from)
	if err != nil {
		return err
	}
	if to, err = w.path(to); err != nil {
		return err
	}
	return moveFile(from, to, flags)
}

func (w winFolder) modified(name string) (time.Time, error) {
	path, err := w.path(name)
	if err != nil {
		return time.Time{}, err
	}
	st, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, err
	}
	if attrs, err := attributes(path); err != nil || name != "" && oddAttributes(name, attrs, false) != nil {
		return time.Time{}, errors.Join(err, oddAttributes(name, attrs, false))
	}
	return st.ModTime(), nil
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
	h, err := windows.CreateFile(p, access, shareAll, nil, disposition, flags|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// create makes a file that must not exist, and refuses the Offline
// Files cache: there every PC's create would succeed.
func (w winFolder) create(name string) (handle, error) {
	path, err := w.path(name)
	if err != nil {
		return nil, err
	}
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

// list lists a folder, unless the Offline Files cache would answer: a takeover
// rests on what a listing did not show.
func (w winFolder) list(name string) ([]string, error) {
	path, err := w.path(name)
	if err != nil {
		return nil, err
	}
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	var flags uint32 = windows.FILE_FLAG_BACKUP_SEMANTICS
	if name != "" {
		flags |= windows.FILE_FLAG_OPEN_REPARSE_POINT
	}
	h, err := windows.CreateFile(p, windows.FILE_LIST_DIRECTORY|windows.FILE_READ_ATTRIBUTES|windows.SYNCHRONIZE, shareAll, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "list", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(h), path)
	err = oddHandle(name, h, true)
	switch {
	case err != nil && name == "":
		err = &oddFile{what: "LEASE_DIR is a file, not a folder"}
	case err == nil && offline(h):
		err = errOffline
	}
	var names []string
	if err == nil {
		names, err = f.Readdirnames(-1)
	}
	return names, errors.Join(err, f.Close())
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
