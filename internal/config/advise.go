package config

import (
	"path/filepath"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// advise adds the warnings that need the whole picture.
func (r *resolver) advise() {
	s := r.scanner
	used := map[string]int{}
	for _, k := range keys {
		if _, line := r.store.find(k.Name); line > 0 {
			used[k.Name] = line
		}
	}
	s.duplicates(used)
	for _, e := range s.entries {
		k := lookupKey(e.key)
		if k == nil {
			s.unknown(e)
			continue
		}
		if used[k.Name] == e.line {
			s.oddities(k, e)
		}
	}
	r.weakToken()
	r.foreignPath("LEASE_DIR", r.config.LeaseDir)
	r.foreignPath("STATE_DIR", r.config.StateDir)
}

// unknown warns of a key that is probably meant for us: everything in [RELAY],
// elsewhere only what looks like a mistyped key of ours.
func (s *scanner) unknown(e entry) {
	near := nearest(e.key)
	switch {
	case near != "":
		s.warn(e.line, "unknown key %s is ignored; did you mean %s?", printable(e.key), near)
	case sectionName(e.section) == relaySection:
		s.warn(e.line, "unknown key %s is ignored", printable(e.key))
	}
}

// weakToken warns of secrets that can be guessed or protect nothing.
func (r *resolver) weakToken() {
	c, src := &r.config, r.from["RELAY_TOKEN"]
	warn := func(src source, text string) {
		w := Warning{File: r.path, Line: src.line, Text: text}
		if src.env {
			w.File = "environment"
		}
		r.scanner.warnings = append(r.scanner.warnings, w)
	}
	if why := weakness(string(c.Token)); c.Token != "" && why != "" {
		warn(src, "RELAY_TOKEN "+why+" (floatrelay token new)")
	}
	if c.Token != "" && c.Token == c.OldToken {
		warn(r.from["RELAY_TOKEN_OLD"], "RELAY_TOKEN_OLD equals RELAY_TOKEN and has no effect")
	}
}

// foreignPath warns of a Windows path elsewhere, where it would be the name of
// a file in the working directory.
func (r *resolver) foreignPath(key, p string) {
	if p == "" || strings.HasPrefix(strings.ToLower(p), smbScheme) || filepath.IsAbs(p) {
		return
	}
	r.scanner.warnings = append(r.scanner.warnings, Warning{File: r.path, Line: r.from[key].line,
		Text: key + "=" + printable(p) + " is not a path of this system (" + runtime.GOOS + "); nothing will be found there"})
}

// oddities looks at one effective line for what people or other programs may
// read differently.
func (s *scanner) oddities(k *Key, e entry) {
	v := e.value
	if v == "" {
		return
	}
	if q := quotes(v); q != "" {
		text := k.Name + " " + q + ", which is a part of the value here; other programs may strip it"
		s.warnings = append(s.warnings, Warning{s.file, e.line, text, !k.Secret})
	}
	if r, _ := utf8.DecodeLastRuneInString(v); unicode.IsSpace(r) || r == '\u200B' || r == '\uFEFF' {
		s.warn(e.line, "%s ends with an invisible character (U+%04X), which is a part of the value", k.Name, r)
	}
	if r, _ := utf8.DecodeRuneInString(v); unicode.IsSpace(r) || r == '\u200B' || r == '\uFEFF' {
		s.warn(e.line, "%s starts with an invisible character (U+%04X), which is a part of the value", k.Name, r)
	}
	s.comments(k, v, e.line)
	s.remarks(k, e)
}

// comments warns of the comment that is not one.
func (s *scanner) comments(k *Key, v string, line int) {
	i := strings.IndexAny(v, ";#")
	switch {
	case i < 0:
	case k.Plain:
		s.remark(line, "the comment behind %s is dropped here; a program that keeps it reads it as a part of the value", k.Name)
	case i > 0 && (v[i-1] == ' ' || v[i-1] == '\t') && !k.Secret:
		s.warn(line, "%s contains %q, which starts no comment here: all of it is the value", k.Name, v[i-1:i+1])
	default:
		s.remark(line, "%s contains '#' or ';', a part of the value here; Harbour cuts at '#', ini.v1 and Python may cut at both", k.Name)
	}
}

// remarks lists what only other programs stumble over.
func (s *scanner) remarks(k *Key, e entry) {
	v := e.value
	switch {
	case strings.HasSuffix(v, `\`):
		s.remark(e.line, "%s ends with a backslash; ini.v1 joins the next line to it", k.Name)
	case e.dbcs5C:
		s.remark(e.line, "%s ends with a character whose second cp950 byte is a backslash; a program that does not decode first may join the next line to it", k.Name)
	}
	if strings.HasPrefix(v, "`") || strings.HasPrefix(v, `"""`) {
		s.remark(e.line, "%s starts with a back-quote or \"\"\"; ini.v1 reads several lines as its value", k.Name)
	}
	if strings.Contains(v, "%") {
		s.remark(e.line, "%s contains '%%'; ini.v1, Python and batch files may replace what is between two of them", k.Name)
	}
	if i := strings.IndexByte(v, '['); i >= 0 && strings.IndexByte(v[i:], ']') > 0 {
		s.remark(e.line, "%s contains [...]; simple programs take such a line for a section", k.Name)
	}
	if e.blank {
		s.remark(e.line, "the line of %s is indented; Python joins it to the line above", k.Name)
	}
}

// quotes says which quotes a value starts or ends with, or returns "".
func quotes(v string) string {
	const marks = "\"'"
	first, last := strings.ContainsAny(v[:1], marks), strings.ContainsAny(v[len(v)-1:], marks)
	switch {
	case first && last && len(v) > 1:
		return "is in quotes"
	case first:
		return "starts with a quote"
	case last:
		return "ends with a quote"
	}
	return ""
}
