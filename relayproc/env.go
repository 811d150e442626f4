package relayproc

import "strings"

// kept are variables of ours that a relay may see although their prefix says
// otherwise.
var kept = map[string]bool{"FLOATRELAY_STANDIN_LOG": true}

// secretWords mark a variable that is not handed on.
var secretWords = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "PRIVATE_KEY", "API_KEY", "APIKEY"}

// CleanEnv returns environ without floatrelay's own settings and without
// whatever is named like a secret. Guard and relay get no other environment:
// it can be read by every program of the same user.
func CleanEnv(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if keepVariable(strings.ToUpper(name)) {
			out = append(out, kv)
		}
	}
	return out
}

func keepVariable(name string) bool {
	if kept[name] {
		return true
	}
	if strings.HasPrefix(name, "FLOATRELAY_") {
		return false
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
