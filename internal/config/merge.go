package config

import (
	"fmt"
	"strings"

	"gopkg.in/ini.v1"
)

// relaySection is our own section; topSection is what stands before the first
// header. ini.v1 calls the latter DEFAULT, and so does this package: a written
// [DEFAULT] is the top of the file.
const (
	relaySection = "relay"
	topSection   = "default"
)

func sectionName(s string) string {
	if s == "" {
		return topSection
	}
	return strings.ToLower(strings.TrimSpace(s))
}

// rank orders the sections: the smaller one wins.
func rank(section string) int {
	switch section {
	case relaySection:
		return 0
	case topSection:
		return 1
	}
	return 2
}

// store is the file as ini.v1 keeps it, with the line of each value.
type store struct {
	file  *ini.File
	lines map[*ini.Key]int
}

// build hands the scanned lines to ini.v1 through its API, never through its
// parser: what the parser does to quotes, back-quotes, comments and line ends
// is what the scanner exists to avoid. Within a section the last non-empty
// value of a key stays.
func build(entries []entry) (*store, error) {
	s := &store{
		// No section is the child of another one: a key of [a] is not in [a.b].
		file:  ini.Empty(ini.LoadOptions{Insensitive: true, ChildSectionDelimiter: "\x00"}),
		lines: map[*ini.Key]int{},
	}
	for _, e := range entries {
		sec, err := s.file.NewSection(sectionName(e.section))
		if err != nil {
			return nil, fmt.Errorf("line %d: keep section: %w", e.line, err)
		}
		if e.value == "" && sec.HasKey(e.key) {
			continue
		}
		key, err := sec.NewKey(e.key, e.value)
		if err != nil {
			return nil, fmt.Errorf("line %d: keep key: %w", e.line, err)
		}
		s.lines[key] = e.line
	}
	return s, nil
}

// find returns the literal value of a key and its line, or line 0. Among the
// sections of one rank the later line wins; an empty value wins over nothing.
func (s *store) find(name string) (value string, line int) {
	best := 3
	for _, sec := range s.file.Sections() {
		r := rank(sec.Name())
		if r > best || !sec.HasKey(name) {
			continue
		}
		key := sec.Key(name)
		// Value, not String: the latter expands %(name)s.
		if key.Value() == "" || r == best && s.lines[key] < line {
			continue
		}
		best, value, line = r, key.Value(), s.lines[key]
	}
	return value, line
}

// duplicates warns wherever one key is written twice and somebody could take
// the other line for the true one. used maps a key to the line that won.
func (s *scanner) duplicates(used map[string]int) {
	seen := map[string][]entry{}
	for _, e := range s.entries {
		k := lookupKey(e.key)
		if k == nil {
			continue
		}
		for _, old := range seen[k.Name] {
			s.duplicate(k, old, e, used[k.Name])
		}
		seen[k.Name] = append(seen[k.Name], e)
	}
}

func (s *scanner) duplicate(k *Key, old, e entry, used int) {
	a, b := sectionName(old.section), sectionName(e.section)
	what := fmt.Sprintf("%s is on line %d and on line %d", k.Name, old.line, e.line)
	if used > 0 {
		what += fmt.Sprintf("; line %d is used", used)
	}
	switch {
	case a == b:
		s.warn(e.line, "%s", what)
	case old.value == e.value || old.value == "" || e.value == "":
	case rank(a) == 2 && rank(b) == 2 && used != old.line && used != e.line:
	case rank(a) == 2 != (rank(b) == 2):
		s.remark(e.line, "%s", what)
	default:
		s.warn(e.line, "%s", what)
	}
}
