package relayproc

import (
	"slices"
	"strings"
)

// kept are variables of ours that a relay may see although their prefix says
// otherwise.
var kept = map[string]bool{"FLOATRELAY_STANDIN_LOG": true}

// secretWords mark a variable that is not handed on.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "PRIVATE_KEY", "API_KEY", "APIKEY"}

// inherited are variables that speak of the process they were given to, and
// mislead another: the service manager's, and those by which the boot loader of a
// PyInstaller program knows its own child. A relay packed in that way would take
// itself for a child that is unpacked already.
var inherited = map[string]bool{
	"NOTIFY_SOCKET": true, "INVOCATION_ID": true, "JOURNAL_STREAM": true, "MAINPID": true,
	"_MEIPASS": true, "_MEIPASS2": true, "PYINSTALLER_SUPPRESS_SPLASH_SCREEN": true,
}

// inheritedPrefixes are the same by how their names begin.
var inheritedPrefixes = []string{"_PYI_", "WATCHDOG_", "LISTEN_", "FLOATRELAY_"}

// libraryPaths are what a boot loader points into its own bundle, with the value
// of before beside it under the name with origSuffix.
var libraryPaths = []string{"LD_LIBRARY_PATH", "LIBPATH"}

const origSuffix = "_ORIG"

// freshBundle tells a PyInstaller boot loader to begin anew, whatever it inherits.
const freshBundle = "PYINSTALLER_RESET_ENVIRONMENT=1"

// CleanEnv returns environ for guard and relay: without floatrelay's own
// settings, without whatever is named like a secret or holds one of secrets, and
// without what the service manager or a boot loader meant for us alone. Guard and
// relay get no other environment: it can be read by every program of the same
// user.
func CleanEnv(environ []string, secrets ...string) []string {
	var restored []string
	if bundle := bundleOf(environ); bundle != "" {
		environ = slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
			name, value, _ := strings.Cut(kv, "=")
			return slices.Contains(libraryPaths, name) && strings.Contains(value, bundle)
		})
	}
	for _, kv := range environ {
		for _, name := range libraryPaths {
			if value, ok := strings.CutPrefix(kv, name+origSuffix+"="); ok {
				restored = append(restored, name+"="+value)
			}
		}
	}
	restored = append(restored, freshBundle)
	var out []string
	for _, kv := range mergeEnv(environ, restored) {
		name, value, _ := strings.Cut(kv, "=")
		if keepVariable(strings.ToUpper(name)) && !holdsSecret(value, secrets) {
			out = append(out, kv)
		}
	}
	return out
}

// bundleOf is the folder into which the PyInstaller program above us unpacked
// itself; empty if there is none.
func bundleOf(environ []string) string {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if name == "_MEIPASS2" || name == "_PYI_APPLICATION_HOME_DIR" {
			return value
		}
	}
	return ""
}

// The lengths in bytes from which a value is taken for a secret, and from which a
// secret is also looked for inside of values: shorter ones would be found in
// numbers and paths.
const (
	minSecret  = 6
	longSecret = 12
)

func holdsSecret(value string, secrets []string) bool {
	for _, s := range secrets {
		if len(s) >= minSecret && value == s || len(s) >= longSecret && strings.Contains(value, s) {
			return true
		}
	}
	return false
}

func keepVariable(name string) bool {
	if kept[name] {
		return true
	}
	if inherited[name] {
		return false
	}
	for _, p := range inheritedPrefixes {
		if strings.HasPrefix(name, p) {
			return false
		}
	}
	for _, lib := range libraryPaths {
		if name == lib+origSuffix {
			return false
		}
	}
	for _, w := range secretWords {
		if strings.Contains(name, w) {
			return false
		}
	}
	return true
}

// mergeEnv lets later settings win over earlier ones of the same name.
func mergeEnv(base, over []string) []string {
	set := map[string]bool{}
	for _, kv := range over {
		name, _, _ := strings.Cut(kv, "=")
		set[strings.ToUpper(name)] = true
	}
	out := make([]string, 0, len(base)+len(over))
	for _, kv := range base {
		if name, _, _ := strings.Cut(kv, "="); !set[strings.ToUpper(name)] {
			out = append(out, kv)
		}
	}
	return append(out, over...)
}
