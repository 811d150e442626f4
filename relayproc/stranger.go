package relayproc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Strangers returns the processes that run the program exe (RELAY_EXE) without
// a guard of a floatrelay above them: a relay that an old watchdog or a person
// started, listening or not. Several daemons on one PC do not take each other's
// relays for strangers.
//
// It is empty when exe is floatrelay itself, as in the demo, because then every
// daemon would look like a relay, and when exe is an interpreter, which runs
// other things as well. A .bat or a script is not a process of its own and never
// found, nor is a process whose program this account may not see; their ports
// are (PortHolder).
func Strangers(exe string) []Holder {
	self, err := os.Executable()
	if err != nil || exe == "" || sameName(self, exe) || interpreter(exe) {
		return nil
	}
	var out []Holder
	for _, p := range processesOf(exe) {
		if foreign(p, self) {
			out = append(out, Holder{PID: p.PID, Program: p.Exe})
		}
	}
	return out
}

// foreign reports that p lives and no floatrelay is above it. One look can miss a
// guard, when a process in between ends meanwhile.
func foreign(p process, self string) bool {
	for range 2 {
		if underProgram(p.PID, self) {
			return false
		}
	}
	now, ok := lookup(p.PID)
	return ok && now == p
}

// underProgram reports whether a process above pid runs exe, or a program of
// that name: another floatrelay of this PC, or the one an upgrade replaced.
func underProgram(pid int, exe string) bool {
	for _, above := range ancestors(pid) {
		if sameName(program(above), exe) {
			return true
		}
	}
	return false
}

// interpreters run scripts. Their names may end in a version.
var interpreters = regexp.MustCompile(`^(python|pythonw|py|pyw|pypy|node|deno|bun|java|javaw|dotnet|mono|perl|ruby|php|lua|tclsh|` +
	`sh|bash|dash|ash|zsh|ksh|fish|busybox|cmd|powershell|pwsh|cscript|wscript|env|wine|wine64|hbrun)[0-9.]*$`)

func interpreter(exe string) bool { return interpreters.MatchString(baseName(exe)) }

// sameName compares the last elements of two paths.
func sameName(a, b string) bool {
	return a != "" && b != "" && baseName(a) == baseName(b)
}

// baseName is the last element of the real path, without .exe and in lower case.
func baseName(path string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(realPath(path))), ".exe")
}

// sameProgram compares paths as the file system of the PCs does, through links.
func sameProgram(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	b = realPath(b)
	if caseless {
		return strings.EqualFold(filepath.Clean(a), filepath.Clean(b))
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
