//go:build !windows

package service

import (
	"errors"
	"net"
	"os"
)

// managedArgs end the service's command line.
var managedArgs []string

// Managed reports whether a service manager must be answered by Run. systemd
// wants no more than signals and Notify.
func Managed() bool { return false }

// Run is for Windows only.
func Run(Program) error { return errors.New("answer the service manager: there is none to answer") }

// Notify tells systemd how far the daemon is ("READY=1", "STOPPING=1"), if it
// asked for that.
func Notify(state string) {
	addr := os.Getenv("NOTIFY_SOCKET")
	if addr == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: addr, Net: "unixgram"})
	if err != nil {
		return // systemd is gone, or not ours to talk to
	}
	_, _ = c.Write([]byte(state))
	_ = c.Close()
}
