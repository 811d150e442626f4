package standin

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// setReuse has nothing to take back where Go sets no SO_REUSEADDR; on Windows
// that option is the one that lets two listen.
func (c Config) setReuse(_, _ string, raw syscall.RawConn) error {
	if !c.Share {
		return nil
	}
	var err error
	cerr := raw.Control(func(fd uintptr) {
		err = windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_REUSEADDR, 1)
	})
	if cerr != nil {
		return cerr
	}
	return err
}
