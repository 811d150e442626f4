// Package words turns facts into sentences: what a reason.Reason says, and what to
// do about it, in the reader's language. It is the only place with prose about the
// lease, and it is used at the door alone: by the log, status, members, doctor,
// history and the event log. Nothing is decided by what it returns.
package words

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
)

// Lang is a language that people read.
type Lang uint8

// The languages.
const (
	English Lang = iota
	Chinese      // Traditional Chinese, as written in Taiwan
)

// String returns the language's tag, as LANG_UI names it.
func (l Lang) String() string { return [...]string{"en", "zh-TW"}[l] }

// entry is what there is to say of a code. In a text {name} stands for a fact,
// by its name in JSON; what stands in [...] is left out if a fact in it is
// missing.
type entry struct{ text, cure string }

var tables = [...]map[reason.Code]entry{English: english, Chinese: chinese}

// Say is the sentence for one reason. because are the reasons behind it, if any.
// A code that this version does not know is shown as it is, with its facts.
func (l Lang) Say(r reason.Reason, because ...reason.Reason) string {
	e, ok := tables[l][r.Code]
	if !ok {
		return r.String()
	}
	return l.fill(e.text, r, because)
}

// Cure is what to do about a reason, or "" if there is nothing to do.
func (l Lang) Cure(r reason.Reason) string { return l.fill(tables[l][r.Code].cure, r, nil) }

// All are the sentences of several reasons in one line.
func (l Lang) All(rs []reason.Reason) string {
	var all []string
	for _, r := range rs {
		all = append(all, l.Say(r))
	}
	return strings.Join(all, [...]string{"; ", "；"}[l])
}

// Why is the reason to show behind a fact: what is behind it, or how it came.
func (l Lang) Why(fact reason.Reason, because []reason.Reason) string {
	if len(because) > 0 {
		return l.All(because)
	}
	return l.Term(fact.How)
}

// Cures are the cures of several reasons in one line, each once.
func (l Lang) Cures(rs []reason.Reason) string {
	var all []string
	seen := map[string]bool{"": true}
	for _, r := range rs {
		if c := l.Cure(r); !seen[c] {
			seen[c] = true
			all = append(all, c)
		}
	}
	return strings.Join(all, [...]string{"; ", "；"}[l])
}

// Term is a word of a closed list (a role, the reason of a record, the cause of a
// relay's end) in this language. One that is not known is shown as it is.
func (l Lang) Term(word string) string {
	if l == Chinese && terms[word] != "" {
		return terms[word]
	}
	return word
}

// fill puts the facts into a text.
func (l Lang) fill(text string, r reason.Reason, because []reason.Reason) string {
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "[{")
		if i < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		if text[i] == '{' {
			n := i + strings.IndexByte(text[i:], '}')
			b.WriteString(l.fact(text[i+1:n], r, because))
			text = text[n+1:]
			continue
		}
		n := i + strings.IndexByte(text[i:], ']')
		if part := text[i+1 : n]; l.complete(part, r, because) {
			b.WriteString(l.fill(part, r, because))
		}
		text = text[n+1:]
	}
	return b.String()
}

// complete reports whether every fact that a part of a text names is there.
func (l Lang) complete(part string, r reason.Reason, because []reason.Reason) bool {
	for _, name := range names(part) {
		if l.fact(name, r, because) == "" {
			return false
		}
	}
	return true
}

// names are the facts that a text names.
func names(text string) (out []string) {
	for {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			return out
		}
		n := i + strings.IndexByte(text[i:], '}')
		out = append(out, text[i+1:n])
		text = text[n+1:]
	}
}

// fact is one fact as people write it, or "" if it is missing.
func (l Lang) fact(name string, r reason.Reason, because []reason.Reason) string {
	switch name {
	case "because":
		return l.All(because)
	case "for":
		return l.duration(time.Duration(r.ForMS) * time.Millisecond)
	case "age":
		return l.age(time.Duration(r.ForMS) * time.Millisecond)
	case "pause":
		return l.duration(time.Duration(r.Of) * time.Second)
	case "at":
		return timeOfDay(r.At)
	case "next":
		return timeOfDay(r.Next)
	case "role":
		return l.Term(r.Role)
	case "how":
		return l.Term(r.How)
	case "found":
		return l.Term(r.Found) // a role, as far as it is one
	}
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		if f := v.Field(i); reason.FieldName(i) == name && !f.IsZero() {
			return fieldText(f)
		}
	}
	return ""
}

func fieldText(f reflect.Value) string {
	switch {
	case f.CanInt():
		return strconv.FormatInt(f.Int(), 10)
	case f.CanUint():
		return strconv.FormatUint(f.Uint(), 10)
	}
	return f.String()
}

// timeOfDay is the clock time of an instant in RFC 3339, in its own zone.
func timeOfDay(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	return t.Format(time.TimeOnly)
}

// Pattern is the text of a code as documents write it, with … for what varies.
func (l Lang) Pattern(code reason.Code) string {
	var b strings.Builder
	in := false
	for _, r := range tables[l][code].text {
		switch {
		case r == '{':
			in = true
			b.WriteString("…")
		case r == '}':
			in = false
		case !in && r != '[' && r != ']':
			b.WriteRune(r)
		}
	}
	return b.String()
}
