package main

import (
	"fmt"

	"github.com/convertfw/floatrelay/internal/daemon"
)

// frozenHint says what to do about a daemon that holds its address but does not
// answer. Nothing is in danger meanwhile.
func (a *app) frozenHint() string {
	who, how := "the daemon", "end its process"
	if _, loaded, err := a.load(); err == nil {
		if pid := daemon.WrittenPID(loaded.Config.StateDir); pid != 0 {
			who, how = fmt.Sprintf("the daemon, pid %d,", pid), fmt.Sprintf("end it with '"+endCommand+"'", pid)
		}
	}
	return who + " is frozen, or this PC is overloaded: wait a little, or " + how +
		" and start it again; its guard ends the relay in time, and another PC takes over"
}
