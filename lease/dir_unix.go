//go:build !windows

package lease

import (
	"errors"
	"io"
	"os"
	"syscall"
)

func hostSystem() system {
	return system{
		create: func(path string) (handle, error) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		open:   func(path string) (io.ReadCloser, error) { return os.Open(path) },
		list:   listNames,
		rename: os.Rename,
		move:   moveNew,
		mkdir:  func(path string) error { return os.Mkdir(path, 0o777) },
		remove: os.Remove,
		exists: func(path string) error { _, err := os.Lstat(path); return err },
		judge:  unixVerdict,

		space: spaceIn, modified: modifiedAt,
	}
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
