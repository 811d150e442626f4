//go:build unix

package standin

import "syscall"

// withoutReuse takes back the SO_REUSEADDR that Go sets, as a relay does that
// never heard of it.
func withoutReuse(_, _ string, c syscall.RawConn) error {
	var err error
	cerr := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	})
	if cerr != nil {
		return cerr
	}
	return err
}
