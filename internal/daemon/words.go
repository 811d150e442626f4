package daemon

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// explain is the arbiter's note in words for whoever has to mend it: the arbiter
// knows neither why a share refuses nor where a record lies.
func explain(s arbiter.Status, room *fullness) string {
	text := room.words(s.Note)
	aboutHead := s.Note == s.Head.Cause
	switch {
	case room.isFull() && (s.Note == "" || aboutHead && len(s.Head.Body) == 0 && !s.Head.Irregular):
		return room.hint()
	case aboutHead && s.Head.Kind == lease.Unknown && s.Note != "" && !s.Head.WrongToken():
		return damagedNote(s)
	}
	return text
}

// damagedNote says which record is none, and what comes of it.
func damagedNote(s arbiter.Status) string {
	if s.Head.Irregular {
		return fmt.Sprintf("record %d cannot be read: %s: nobody can take over for %.0f s, then the next is made", s.Head.Rev, s.Head.Cause, lease.TTLMax.Seconds())
	}
	what := "is damaged or was not written by floatrelay (" + s.Head.Cause + ")"
	if len(s.Head.Body) == 0 {
		what = "was created without a body, as happens when the share is full or a PC is cut off"
	}
	name := ""
	if s.Share != "" {
		name = " (" + lease.RecordName(s.Share, s.Head.Rev) + ")"
	}
	return fmt.Sprintf("record %d%s %s: nobody can take over for %.0f s, then it is replaced; if it happens again find out what writes into LEASE_DIR",
		s.Head.Rev, name, what, lease.TTLMax.Seconds())
}

// damaged reports heads worth a line in the log. A body that is empty or zero
// may only be on its way.
func damaged(e lease.Entry) bool {
	return e.Kind == lease.Unknown && e.Cause != "" && !e.WrongToken() && (e.Irregular || len(bytes.Trim(e.Body, "\x00")) > 0)
}

// sayDamaged says once of each record that it is none. Only the driver calls it.
func (d *Daemon) sayDamaged(s arbiter.Status) {
	if damaged(s.Head) && s.Head.Rev != d.damagedRev {
		d.damagedRev = s.Head.Rev
		d.report(true, damagedNote(s))
	}
}

// ownNote is everything there is to say of this PC.
func (d *Daemon) ownNote(s arbiter.Status) string {
	return withTokens(d.noteOf(s), d.tokens.note())
}

// withTokens leaves out of note what tokens says better: who wrote a record that
// another token signed.
func withTokens(note, tokens string) string {
	_, by, _ := strings.Cut(note, "(written by ")
	e := lease.Entry{Kind: lease.Unknown, Cause: note}
	if by = strings.TrimSuffix(by, ")"); by != "" && e.WrongToken() && strings.Contains(tokens, by) {
		return tokens
	}
	return joinNotes(note, tokens)
}
