package relayproc

import (
	"os"
	"path/filepath"
	"strings"
)

// Strangers returns the processes that run the program exe (RELAY_EXE) without
// a guard of ours above them: a relay that an old watchdog or a person started.
// It is empty when exe is this very program, as in the demo, because then every
// daemon would look like a relay. A .bat is not a process of its own and is
// never found; its port is (PortHolder).
func Strangers(exe string) []Holder {
	self, err := os.Executable()
	if err != nil || sameProgram(self, exe) {
		return nil
	}
	var out []Holder
	for _, pid := range pids() {
		p, ok := lookup(pid)
		if ok && sameProgram(p.Exe, exe) && !underProgram(pid, self) {
			out = append(out, Holder{PID: pid, Program: p.Exe})
		}
	}
	return out
}

// Stranger returns the first obstacle to a relay of ours, for an ineligible
// member to name: a foreign holder of one of the two ports, or a foreign
// process running exe. ours is a running guard of this daemon, or nil.
func Stranger(spec Spec, ours *Guard) (Holder, bool) {
	if ours == nil {
		if h, held := anyListener(spec.Addr, spec.ports()); held {
			return h, true
		}
	}
	if s := Strangers(spec.Exe); len(s) > 0 {
		return s[0], true
	}
	return Holder{}, false
}

func underProgram(pid int, exe string) bool {
	for _, above := range ancestors(pid) {
		if sameProgram(program(above), exe) {
			return true
		}
	}
	return false
}

// sameProgram compares paths as the file system of the PCs does, through links.
func sameProgram(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(b); err == nil {
		b = real
	}
	if caseless {
		return strings.EqualFold(filepath.Clean(a), filepath.Clean(b))
	}
	return filepath.Clean(a) == filepath.Clean(b)
}
