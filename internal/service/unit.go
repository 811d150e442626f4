package service

import (
	"fmt"
	"strings"
)

// stopSeconds bounds a graceful end under systemd: the daemon gives up after
// eight seconds, and the guard needs a few more for a slow share.
const stopSeconds = 30

// Unit returns the systemd unit of a plan.
//
// KillMode=process: if the daemon dies, its guard must live on for a moment to
// end the relay and give the lease back; systemd would kill it otherwise. The
// guard ends the relay by itself in every case.
func Unit(p Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, `[Unit]
Description=%s
After=network-online.target remote-fs.target
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=main
ExecStart=%s
WorkingDirectory=/
Restart=on-failure
RestartSec=5
KillMode=process
TimeoutStartSec=60
TimeoutStopSec=%d
UMask=0077
`, description, execLine(p.Exe, p.args()), stopSeconds)
	if p.User != "" {
		// STATE_DIR follows XDG for ordinary users; this makes it the usual
		// folder, owned by that user.
		fmt.Fprintf(&b, "User=%s\nStateDirectory=%s\nStateDirectoryMode=0700\nEnvironment=XDG_STATE_HOME=/var/lib\n", p.User, Name)
	}
	b.WriteString("\n[Install]\nWantedBy=multi-user.target\n")
	return b.String()
}

func execLine(exe string, args []string) string {
	words := []string{quote(exe, false)}
	for _, a := range args {
		words = append(words, quote(a, true))
	}
	return strings.Join(words, " ")
}

// quote makes a word of a command line literal: % begins a specifier and, in
// arguments, $ a variable.
func quote(s string, arg bool) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(s)
	if arg {
		s = strings.ReplaceAll(s, "$", "$$")
	}
	return `"` + s + `"`
}
