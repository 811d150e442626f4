//go:build unix

package standin

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// setReuse takes back the SO_REUSEADDR that Go sets, as a relay does that never
// heard of it, or adds the option that lets two listen.
func (c Config) setReuse(_, _ string, raw syscall.RawConn) error {
	var err error
	cerr := raw.Control(func(fd uintptr) {
		if c.NoReuse {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 0)
		}
		if err == nil && c.Share {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		}
	})
	if cerr != nil {
		return cerr
	}
	return err
}
