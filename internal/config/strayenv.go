package config

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// otherEnv are variables with our prefix that are no settings.
var otherEnv = []string{"SERVICE_PASSWORD", "STANDIN_LOG"}

// StrayEnv warns of every variable that begins like an override but overrides
// nothing, because no key has that name. environ is as of os.Environ; values,
// which may be secrets, are not shown.
func StrayEnv(environ []string) []Warning {
	var out []Warning
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if value == "" || len(name) <= len(EnvPrefix) || !strings.EqualFold(name[:len(EnvPrefix)], EnvPrefix) {
			continue
		}
		if text := strayName(name); text != "" {
			out = append(out, Warning{File: "environment", Text: text})
		}
	}
	return out
}

func strayName(name string) string {
	given := name
	if runtime.GOOS == "windows" { // which does not tell upper from lower case there
		name = strings.ToUpper(name)
	}
	rest := name[len(EnvPrefix):]
	known := slices.Contains(otherEnv, rest) || slices.ContainsFunc(keys, func(k *Key) bool { return k.Name == rest })
	if known && strings.HasPrefix(name, EnvPrefix) {
		return ""
	}
	text := fmt.Sprintf("%s is no setting and is ignored", printable(given))
	if near := nearest(rest); near != "" {
		text += "; did you mean " + EnvPrefix + near + "?"
	}
	return text
}
