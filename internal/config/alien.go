package config

import (
	"regexp"
	"strings"
)

// plausible is what a key of some program may look like. A name that is none may
// be a piece of a secret, and is not shown.
var plausible = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,30}$`)

// shellWords stand before a variable in other programs' files.
var shellWords = regexp.MustCompile(`(?i)^((export|set|setx|env|declare -x|readonly)[ \t]+|\$env:)"?`)

// noteAlien remembers a line that sets a key of ours as a shell, a batch file or a
// service unit would.
func (s *scanner) noteAlien(num int, key, value string) {
	bare := shellWords.ReplaceAllString(key, "")
	if bare == key && strings.EqualFold(key, "Environment") {
		bare, _, _ = strings.Cut(strings.TrimLeft(value, `"'`), "=")
	}
	if k := lookupKey(strings.TrimSpace(bare)); k != nil && lookupKey(key) == nil {
		s.alien[k.Name] = num
		s.warn(num, "%s is written here as for another program, and ignored; begin the line with %s=", k.Name, k.Name)
		if k.Secret {
			s.secret = num
		}
	}
}

// startsWithSecret recognises RELAY_TOKEN: and the like.
func startsWithSecret(text string) bool {
	end := strings.IndexFunc(text, func(r rune) bool { return !isKeyRune(r) })
	if end < 0 {
		return false
	}
	k := lookupKey(text[:end])
	return k != nil && k.Secret
}

// unknown warns of a key that is probably meant for us: everything in [RELAY],
// elsewhere only what looks like a mistyped key of ours.
func (s *scanner) unknown(e entry) {
	ours, near := rank(sectionName(e.section)), nearest(e.key)
	if ours == 2 && len(near) < longName && squeeze(e.key) != squeeze(near) {
		near = "" // short names of other programs are alike by chance
	}
	for _, line := range s.alien {
		if line == e.line {
			return // said already
		}
	}
	switch {
	case near == "" && ours != 0 && !startsWithSecret(e.key):
	case !e.below && near != "" && squeeze(e.key) == squeeze(near):
		s.warn(e.line, "unknown key %s is ignored; did you mean %s?", printable(e.key), near)
	case e.below, !plausible.MatchString(e.key):
		text := "the text in front of '=' is no key; the line is ignored"
		if e.below {
			text = "this may be the rest of the secret above, which must stand on one line; the line is ignored"
		}
		if k := keyBeforeColon(e.key); k != nil {
			text = k.Name + " is followed by ':'; write " + k.Name + "="
		}
		s.warn(e.line, "%s", text)
	case near != "":
		s.warn(e.line, "unknown key %s is ignored; did you mean %s?", printable(e.key), near)
	default:
		s.warn(e.line, "unknown key %s is ignored", printable(e.key))
	}
}

func keyBeforeColon(text string) *Key {
	name, _, found := strings.Cut(text, ":")
	if !found {
		return nil
	}
	return lookupKey(strings.TrimSpace(name))
}
