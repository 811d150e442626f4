package config

import (
	"fmt"
	"io"
	"strings"
)

// templateHead explains the file to whoever opens it first. Plain ASCII: the
// template must survive every editor and code page.
const templateHead = `floatrelay settings. One KEY=value per line; a line that starts with ; or # is a comment.
Text values are literal: no quotes, no escapes, and no comment behind them.
A comment may follow a number (LEASE_TTL=15 ; seconds).
Lines without a leading ; below must be filled in; the others show the defaults.
Set RELAY_EXE too wherever the relay may run: without it a PC never leads.
`

// WriteTemplate writes a commented stk.ini with every key, its default and its
// range: plain ASCII with CR LF, ready for Notepad and for ini editors.
func WriteTemplate(w io.Writer) error {
	var b strings.Builder
	comment(&b, templateHead)
	b.WriteString("\n[RELAY]\n")
	group := ""
	for _, k := range keys {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&b, "\n; ---- %s ----\n", group)
		}
		b.WriteString("\n")
		comment(&b, k.Doc)
		comment(&b, "Allowed: "+k.Allowed)
		comment(&b, "Default: "+k.defaultWords())
		if !k.Required || k.PerOS != "" {
			b.WriteString(";")
		}
		fmt.Fprintf(&b, "%s=%s\n", k.Name, k.Default)
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "\n", "\r\n"))
	if err != nil {
		return fmt.Errorf("write the template: %w", err)
	}
	return nil
}

// defaultWords says the default for people.
func (k *Key) defaultWords() string {
	switch {
	case k.PerOS != "":
		return k.PerOS
	case k.Required:
		return "none, must be set"
	case k.Default == "":
		return "none"
	}
	return k.Default
}

// comment writes text as comment lines of at most 76 columns.
func comment(b *strings.Builder, text string) {
	for line := range strings.Lines(text) {
		width := 0
		for _, word := range strings.Fields(line) {
			if width > 0 && width+1+len(word) > 74 {
				b.WriteString("\n")
				width = 0
			}
			if width == 0 {
				b.WriteString(";")
			}
			b.WriteString(" " + word)
			width += 1 + len(word)
		}
		b.WriteString("\n")
	}
}
