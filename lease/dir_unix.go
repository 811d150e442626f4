//go:build !windows

package lease

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func hostSystem(base string) system {
	u := unixFolder(base)
	return system{
		create: u.create,
		open:   func(name string) (io.ReadCloser, error) { return u.open(name) },
		list:   u.list,
		rename: func(from, to string) error { return u.both(from, to, rename) },
		move:   func(from, to string) error { return u.both(from, to, moveNew) },
		mkdir:  u.mkdir,
		remove: u.remove,
		exists: func(name string) error { _, err := u.stat(name); return err },
		judge:  unixVerdict,

		space:    func() (free, total uint64, err error) { return spaceIn(base) },
		modified: u.modified,
	}
}

// unixFolder reaches names below LEASE_DIR. Each folder is opened from the one
// above it, so that no link is followed whatever is exchanged meanwhile. The
// path of LEASE_DIR itself may hold links.
type unixFolder string

// in calls f with the open folder that holds name, and with the last part of
// the name.
func (u unixFolder) in(op, name string, f func(dir int, last string) error) error {
	dir, err := u.enter(path.Dir(name))
	if err != nil {
		return &os.PathError{Op: op, Path: u.full(name), Err: err}
	}
	defer unix.Close(dir)
	err = again(func() error { return f(dir, path.Base(name)) })
	var told *os.PathError
	if err == nil || errors.As(err, &told) {
		return err
	}
	return &os.PathError{Op: op, Path: u.full(name), Err: err}
}

// enter opens a folder, for use as a starting point only.
func (u unixFolder) enter(name string) (dir int, err error) {
	if dir, err = openAt(unix.AT_FDCWD, string(u), folderOnly); err != nil {
		if errors.Is(err, unix.ENOTDIR) && u.isFile() {
			return -1, &oddFile{what: "LEASE_DIR is a file, not a folder"}
		}
		return -1, err
	}
	if name == "." || name == "" {
		return dir, nil
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		next, err := openAt(dir, part, folderOnly|unix.O_NOFOLLOW)
		if err != nil {
			err = explainOdd(dir, strings.Join(parts[:i+1], "/"), unix.S_IFDIR, err)
		}
		_ = unix.Close(dir)
		if err != nil {
			return -1, err
		}
		dir = next
	}
	return dir, nil
}

func (u unixFolder) isFile() bool {
	st, err := os.Stat(string(u))
	return err == nil && !st.IsDir()
}

func (u unixFolder) full(name string) string {
	return filepath.Join(string(u), filepath.FromSlash(name))
}

func (u unixFolder) create(name string) (h handle, err error) {
	err = u.in("create", name, func(dir int, last string) error {
		fd, err := unix.Openat(dir, last, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o666)
		if err != nil {
			return err
		}
		u.share(fd, 0o444)
		h = os.NewFile(uintptr(fd), u.full(name))
		return nil
	})
	return h, err
}

// open opens a regular file. Nothing else blocks the call, or is read from.
func (u unixFolder) open(name string) (f *os.File, err error) {
	err = u.in("open", name, func(dir int, last string) error {
		fd, err := openAt(dir, last, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK)
		if errors.Is(err, unix.EWOULDBLOCK) { // the server's kernel oplock is being broken
			return &contention{err}
		}
		if err != nil {
			return explainOdd(dir, name, unix.S_IFREG, err)
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil {
			err = oddKind(name, uint32(st.Mode), unix.S_IFREG)
		}
		if err != nil {
			_ = unix.Close(fd)
			return err
		}
		f = os.NewFile(uintptr(fd), u.full(name))
		return nil
	})
	return f, err
}

// list returns the names in a folder, unsorted.
func (u unixFolder) list(name string) (names []string, err error) {
	read := func(dir int, last string, flags int) error {
		fd, err := openAt(dir, last, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|flags)
		if err != nil {
			return explainOdd(dir, name, unix.S_IFDIR, err)
		}
		f := os.NewFile(uintptr(fd), u.full(name))
		names, err = f.Readdirnames(-1)
		return errors.Join(err, f.Close())
	}
	if name != "" {
		err = u.in("list", name, func(dir int, last string) error { return read(dir, last, unix.O_NOFOLLOW) })
		return names, err
	}
	dir, err := u.enter("")
	if err != nil {
		return nil, &os.PathError{Op: "enter", Path: string(u), Err: err}
	}
	defer unix.Close(dir)
	return names, again(func() error { return read(dir, ".", 0) })
}

func (u unixFolder) mkdir(name string) error {
	return u.in("mkdir", name, func(dir int, last string) error {
		if err := unix.Mkdirat(dir, last, 0o777); err != nil {
			return err
		}
		if fd, err := openAt(dir, last, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW); err == nil {
			u.share(fd, 0o777)
			_ = unix.Close(fd)
		}
		return nil
	})
}

// remove removes a name, or an empty folder.
func (u unixFolder) remove(name string) error {
	return u.in("remove", name, func(dir int, last string) error {
		err := unix.Unlinkat(dir, last, 0)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return err
		}
		if asDir := unix.Unlinkat(dir, last, unix.AT_REMOVEDIR); !errors.Is(asDir, unix.ENOTDIR) {
			return asDir
		}
		return err
	})
}

// both calls f with the folders of two names.
func (u unixFolder) both(from, to string, f func(dir int, from string, toDir int, to string) error) error {
	return u.in("move", from, func(dir int, last string) error {
		return u.in("move", to, func(toDir int, toLast string) error { return f(dir, last, toDir, toLast) })
	})
}

func rename(dir int, from string, toDir int, to string) error {
	return unix.Renameat(dir, from, toDir, to)
}

// moveChecked renames a folder where the system has no exclusive rename. The
// system itself refuses a target that is a folder with something in it, as every
// chain is; the check before adds empty folders and files, not as one step.
func moveChecked(dir int, from string, toDir int, to string) error {
	var st unix.Stat_t
	switch err := unix.Fstatat(toDir, to, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case err == nil:
		return unix.EEXIST
	case !errors.Is(err, unix.ENOENT):
		return err
	}
	return unix.Renameat(dir, from, toDir, to)
}

// stat asks for a name without following it; LEASE_DIR itself is followed.
func (u unixFolder) stat(name string) (st unix.Stat_t, err error) {
	if name == "" {
		if err := again(func() error { return unix.Stat(string(u), &st) }); err != nil {
			return st, &os.PathError{Op: "ask for", Path: string(u), Err: err}
		}
		return st, nil
	}
	err = u.in("stat", name, func(dir int, last string) error {
		return unix.Fstatat(dir, last, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return st, err
}

func (u unixFolder) modified(name string) (time.Time, error) {
	st, err := u.stat(name)
	if err == nil && name != "" {
		err = oddKind(name, uint32(st.Mode), unix.S_IFREG)
	}
	return time.Unix(st.Mtim.Unix()), err
}

// openAt opens a name for this process alone.
func openAt(dir int, name string, flags int) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// explainOdd says what stands in the way if something other than want does. dir
// is the folder of name.
func explainOdd(dir int, name string, want uint32, err error) error {
	var st unix.Stat_t
	if unix.Fstatat(dir, path.Base(name), &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		if odd := oddKind(name, uint32(st.Mode), want); odd != nil {
			return odd
		}
	}
	return err
}

// oddKind returns an error unless a file is of the kind wanted.
func oddKind(name string, mode, want uint32) error {
	kind := mode & unix.S_IFMT
	if kind == want {
		return nil
	}
	what := map[uint32]string{
		unix.S_IFREG: "a file", unix.S_IFDIR: "a folder", unix.S_IFLNK: "a link", unix.S_IFIFO: "a FIFO",
		unix.S_IFSOCK: "a socket", unix.S_IFCHR: "a device", unix.S_IFBLK: "a device",
	}[kind]
	return Irregular(name, what, want == unix.S_IFDIR)
}

// unixVerdict judges an error of a local, CIFS, NFS or FUSE folder.
func unixVerdict(err error) verdict {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return vBroken
	}
	switch code {
	case syscall.ENOENT:
		return vNotExist
	case syscall.EEXIST, syscall.ENOTEMPTY:
		return vExists
	case syscall.EACCES, syscall.EPERM, syscall.EROFS:
		return vDenied
	case syscall.ENOTDIR, syscall.EISDIR, syscall.EINVAL, syscall.ENAMETOOLONG, syscall.ELOOP:
		return vDenied
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG:
		return vFull
	case syscall.EBUSY, syscall.ETXTBSY:
		return vBusy
	case syscall.ESTALE, syscall.ENODEV, syscall.ENXIO, syscall.ECONNREFUSED:
		return vGone
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return vGone
	}
	// EIO, ETIMEDOUT, ENOTCONN, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, ENETDOWN,
	// ECONNRESET, ECONNABORTED, EPIPE, EINTR, EAGAIN, …: the mount lost its
	// server, maybe after the request had been sent.
	return vBroken
}
