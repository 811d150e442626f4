package config

import (
	"fmt"
	"sort"
	"strings"
)

// entry is one KEY=value line, taken literally.
type entry struct {
	section string // as written between the brackets; "" at the top of the file
	key     string // as written, without blanks around it
	value   string // without spaces and tabs around it
	line    int
	blank   bool // the line is indented
	below   bool // the line above holds a secret, or the rest of one
	raw     string
	dbcs5C  bool // the value ends in a cp950 character whose second byte is a backslash
}

// scanner splits decoded text into entries and collects what is odd.
type scanner struct {
	file     string
	section  string
	sections map[string]int // normalised name -> line of its first header
	entries  []entry
	warnings []Warning
	secret   int            // the last line that holds a secret, or may hold the rest of one
	alien    map[string]int // our key -> a line that sets it in another program's syntax
	guessed  bool           // nothing told the encoding
}

func (s *scanner) warn(line int, format string, args ...any) {
	s.warnings = append(s.warnings, Warning{File: s.file, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (s *scanner) remark(line int, format string, args ...any) {
	s.warnings = append(s.warnings, Warning{File: s.file, Line: line, Text: fmt.Sprintf(format, args...), Foreign: true})
}

// scan reads the whole text. The error, if any, is an ErrDamaged.
func scan(file string, d decoded) (*scanner, *Error) {
	s := &scanner{file: file, sections: map[string]int{}, alien: map[string]int{}}
	text, nul := trimTail(d.text)
	starts := lineStarts(text)
	lineOf := func(off int) int { return sort.Search(len(starts), func(i int) bool { return starts[i] > off }) }
	if i := strings.IndexByte(text, 0); i >= 0 {
		return s, damaged(file, lineOf(i), "NUL bytes inside the text")
	}
	s.notes(d.notes, lineOf)
	if nul {
		s.warn(len(starts), "NUL bytes at the end of the file are ignored; the file may have lost its last lines")
	}
	for i, from := range starts {
		to := len(text)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		s.line(i+1, strings.TrimRight(text[from:to], "\r\n"), from, d.tail5C)
	}
	if len(s.entries) == 0 {
		return s, damaged(file, 0, "no KEY=value line in the file")
	}
	return s, nil
}

// notes turns what decoding noticed into warnings, the first of each line.
func (s *scanner) notes(notes []note, lineOf func(int) int) {
	last := 0
	for _, n := range notes {
		line := lineOf(n.off)
		if !n.foreign && line == last {
			continue
		}
		if !n.foreign {
			last = line
		}
		s.warnings = append(s.warnings, Warning{s.file, line, n.text, n.foreign})
	}
}

// trimTail drops what old programs and power losses leave behind a text: the
// DOS end-of-file mark and NUL bytes.
func trimTail(text string) (string, bool) {
	cut := strings.TrimRight(text, "\x00\x1A \t\r\n")
	tail := text[len(cut):]
	if !strings.ContainsAny(tail, "\x00\x1A") {
		return text, false
	}
	end := strings.IndexAny(tail, "\x00\x1A")
	return text[:len(cut)+end], strings.Contains(tail, "\x00")
}

// lineStarts returns the offset of every line. CR, LF and CR LF each end one,
// also mixed in one file.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n':
			continue
		case text[i] == '\r' || text[i] == '\n':
			if i+1 < len(text) {
				starts = append(starts, i+1)
			}
		}
	}
	return starts
}

// line reads one line that starts at offset from. A DOS end-of-file mark in
// the middle of the text ends a line too: whoever appended to the file wanted
// the rest to count.
func (s *scanner) line(num int, raw string, from int, tail5C map[int]bool) {
	for {
		part, rest, more := strings.Cut(raw, "\x1A")
		s.part(num, part, tail5C[from+len(strings.TrimRight(part, " \t"))])
		if !more {
			return
		}
		s.warn(num, "end-of-file mark (0x1A) inside the file; some programs stop reading here")
		from += len(part) + 1
		raw = rest
	}
}

func (s *scanner) part(num int, raw string, dbcs5C bool) {
	text := strings.TrimSpace(strings.TrimLeft(raw, "\uFEFF"))
	switch {
	case text == "" || text[0] == ';' || text[0] == '#':
		return
	case text[0] == '[':
		s.header(num, text)
		return
	}
	name, value, ok := strings.Cut(raw, "=")
	if !ok {
		if startsWithSecret(text) || s.secret == num-1 {
			s.secret = num
		}
		s.stray(num, text)
		return
	}
	key := strings.TrimSpace(strings.TrimLeft(name, "\uFEFF"))
	if key == "" {
		s.warn(num, "no key in front of '='; the line is ignored")
		return
	}
	value = strings.Trim(value, " \t")
	if k := lookupKey(key); k != nil && k.Plain && cutComment(value) == "" {
		value = "" // a comment alone is no number
	}
	k, below := lookupKey(key), s.secret > 0 && s.secret == num-1
	if k != nil && k.Secret || k == nil && below || startsWithSecret(key) {
		s.secret = num
	}
	s.noteAlien(num, key, value)
	s.entries = append(s.entries, entry{
		below: below, raw: raw,
		section: s.section, key: key, value: value, line: num,
		blank: raw[0] == ' ' || raw[0] == '\t', dbcs5C: dbcs5C,
	})
}

// header reads a section line. A missing bracket does not change what was
// meant, so the name is taken all the same.
func (s *scanner) header(num int, text string) {
	name, rest, closed := strings.Cut(text[1:], "]")
	if !closed {
		name, _, _ = strings.Cut(name, ";")
		s.warn(num, "section line without ']'; read as [%s]", printable(strings.TrimSpace(name)))
	}
	if rest = strings.TrimSpace(rest); rest != "" && rest[0] != ';' && rest[0] != '#' {
		s.warn(num, "text behind the section name is ignored")
	}
	s.section = strings.TrimSpace(name)
	if s.section == "" {
		s.warn(num, "section without a name; its lines count like those of any other section")
		s.section = "[]"
	}
	first, again := s.sections[sectionName(s.section)]
	switch {
	case !again:
		s.sections[sectionName(s.section)] = num
	case sectionName(s.section) == relaySection:
		s.warn(num, "section [%s] starts again (first on line %d); both parts count here, other programs may use one only", printable(s.section), first)
	default:
		s.remark(num, "section [%s] starts again (first on line %d); other programs may use one part only", printable(s.section), first)
	}
}

// stray warns of a line that is nothing. Its text is not shown: it may be the
// rest of a secret.
func (s *scanner) stray(num int, text string) {
	end := strings.IndexFunc(text, func(r rune) bool { return !isKeyRune(r) })
	if end < 0 {
		end = len(text)
	}
	if k := lookupKey(text[:end]); k != nil {
		s.warn(num, "%s without '='; the line is ignored", k.Name)
		return
	}
	s.warn(num, "neither KEY=value nor [section] nor ;comment; the line is ignored")
}

func isKeyRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
