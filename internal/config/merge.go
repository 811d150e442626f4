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
	file    *ini.File
	lines   map[*ini.Key]int
	winners map[string]winner
}

type winner struct {
	value      string
	line, rank int
}

// build hands the scanned lines to ini.v1 through its API, never through its
// parser: what the parser does to quotes, back-quotes, comments and line ends
// is what the scanner exists to avoid. Within a section the last non-empty
// value of a key stays. Other programs' keys are left out.
func build(entries []entry) (*store, error) {
	s := &store{
		file:  ini.Empty(ini.LoadOptions{Insensitive: true}),
		lines: map[*ini.Key]int{}, winners: map[string]winner{},
	}
	for _, e := range entries {
		if lookupKey(e.key) == nil {
			continue
		}
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
	s.choose()
	return s, nil
}

// choose looks the winner of every key up. Among the sections of one rank the
// later line wins; an empty value wins over nothing.
func (s *store) choose() {
	for _, sec := range s.file.Sections() {
		r := rank(sec.Name())
		for _, key := range sec.Keys() {
			// Value, not String: the latter expands %(name)s.
			w := winner{value: key.Value(), line: s.lines[key], rank: r}
			name := strings.ToUpper(key.Name())
			old, there := s.winners[name]
			if w.value != "" && (!there || w.rank < old.rank || w.rank == old.rank && w.line > old.line) {
				s.winners[name] = w
			}
		}
	}
}

// find returns the literal value of a key and its line, or line 0.
func (s *store) find(name string) (value string, line int) {
	w := s.winners[name]
	return w.value, w.line
}

// duplicates warns wherever one key is written twice and somebody could take
// the other line for the true one. used maps a key to the line that won. Each
// line is compared with the one before it in its section and with the winner
// elsewhere, so that the work stays linear.
func (s *scanner) duplicates(used map[string]int) {
	type place struct{ key, section string }
	before := map[place]entry{}
	won := map[string]entry{}
	for _, e := range s.entries {
		if k := lookupKey(e.key); k != nil && used[k.Name] == e.line {
			won[k.Name] = e
		}
	}
	for _, e := range s.entries {
		k := lookupKey(e.key)
		if k == nil {
			continue
		}
		here := place{k.Name, sectionName(e.section)}
		if old, again := before[here]; again {
			s.warn(e.line, "%s", twice(k, old, e, used[k.Name]))
		}
		before[here] = e
		if w, ok := won[k.Name]; ok && here.section != sectionName(w.section) {
			s.shadowed(k, e, w)
		}
	}
}

// shadowed reports a value that another section overrules. Between [RELAY] and
// the top, or among the rest, that may be a mistake; that [RELAY] or the top
// overrules other programs' sections is what they are for.
func (s *scanner) shadowed(k *Key, e, winner entry) {
	if e.value == "" || e.value == winner.value {
		return
	}
	text := twice(k, e, winner, winner.line)
	line := max(e.line, winner.line)
	if (rank(sectionName(e.section)) == 2) == (rank(sectionName(winner.section)) == 2) {
		s.warn(line, "%s", text)
		return
	}
	s.remark(line, "%s", text)
}

func twice(k *Key, a, b entry, used int) string {
	text := fmt.Sprintf("%s is on line %d and on line %d", k.Name, min(a.line, b.line), max(a.line, b.line))
	if used > 0 {
		text += fmt.Sprintf("; line %d is used", used)
	}
	return text
}
