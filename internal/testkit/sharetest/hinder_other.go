//go:build !windows

package sharetest

import (
	"net"
	"os"
	"syscall"
)

// readersHinder: a file that is open can be replaced.
const readersHinder = false

// oddKinds make what may stand in place of a file.
var oddKinds = map[string]func(path string) error{
	"folder": func(path string) error { return os.Mkdir(path, 0o777) },
	"fifo":   func(path string) error { return syscall.Mkfifo(path, 0o666) },
	"socket": plantSocket,
}

func plantSocket(path string) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return l.Close()
}
