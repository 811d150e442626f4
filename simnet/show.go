package simnet

import (
	"fmt"
	"strings"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// nameOf returns the short name of a run, such as B2: host B, second run.
func (w *World) nameOf(id lease.ID) string {
	if d := w.names[id]; d != nil {
		return d.name
	}
	if id.IsZero() {
		return "nobody"
	}
	return id.String()
}

func (w *World) namesOf(ids []lease.ID) string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = w.nameOf(id)
	}
	return "[" + strings.Join(s, " ") + "]"
}

func showEntry(w *World, e lease.Entry) string {
	if e.Kind != lease.Valid {
		return fmt.Sprintf("%d (%v %s)", e.Rev, e.Kind, e.Cause)
	}
	r := e.Record
	s := fmt.Sprintf("%d epoch %d %s by %s (%s) roster %s", r.Rev, r.Epoch, r.State, w.nameOf(r.Owner), r.Reason, w.namesOf(r.Roster))
	if !r.Successor.IsZero() {
		s += " to " + w.nameOf(r.Successor)
	}
	return s
}

func (w *World) showEvent(ev arbiter.Event) string {
	switch e := ev.(type) {
	case arbiter.ReadDone:
		return fmt.Sprintf("ReadDone %d %v %s", e.Op, e.Outcome, showEntry(w, e.Entry))
	case arbiter.Listed:
		return fmt.Sprintf("Listed %d %v %s", e.Op, e.Outcome, showRevs(e.Revs))
	case arbiter.BeatReceived:
		return fmt.Sprintf("Beat %d from %s: %s", e.Num, w.nameOf(e.From), showEntry(w, e.Entry))
	case arbiter.VouchReceived:
		return fmt.Sprintf("Vouch %d from %s", e.Num, w.nameOf(e.From))
	case arbiter.HeadReceived:
		return fmt.Sprintf("Head from %s: %s", w.nameOf(e.From), showEntry(w, e.Entry))
	case arbiter.LeaderGone:
		return "LeaderGone " + w.nameOf(e.ID)
	case arbiter.MembersChanged:
		return "Members " + w.showMembers(e.Members)
	}
	return fmt.Sprintf("%s %+v", strings.TrimPrefix(fmt.Sprintf("%T", ev), "arbiter."), ev)
}

func (w *World) showMembers(ms []arbiter.Member) string {
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "%s alive=%t eligible=%t rev=%d; ", w.nameOf(m.ID), m.Alive, m.Eligible, m.Rev)
	}
	return b.String()
}

func (w *World) showAction(a arbiter.Action) string {
	switch a := a.(type) {
	case arbiter.Create:
		return fmt.Sprintf("Create %d: %s", a.Op, showEntry(w, w.vault.open(a.Share, a.Rev, a.Body)))
	case arbiter.Found:
		return fmt.Sprintf("Found %d: at %d", a.Op, a.Rev)
	case arbiter.Publish:
		return fmt.Sprintf("Publish %d: %d epoch %d ready=%t", a.Op, a.Record.Rev, a.Record.Epoch, a.Ready)
	case arbiter.Housekeep:
		return fmt.Sprintf("Housekeep %d: %s", a.Op, showRevs(a.Revs))
	case arbiter.SendBeat:
		return fmt.Sprintf("SendBeat %d to %s", a.Num, w.namesOf(a.To))
	case arbiter.SendVouch:
		return fmt.Sprintf("SendVouch %d to %s", a.Num, w.nameOf(a.To))
	case arbiter.SendHead:
		return fmt.Sprintf("SendHead to %s: %s", w.nameOf(a.To), showEntry(w, w.vault.openAny(a.Body)))
	case arbiter.SetWill:
		return fmt.Sprintf("SetWill gen %d rev %d", a.Gen, a.Record.Rev)
	case arbiter.Watch:
		return "Watch " + w.nameOf(a.ID)
	}
	return fmt.Sprintf("%s %+v", strings.TrimPrefix(fmt.Sprintf("%T", a), "arbiter."), a)
}

func showRevs(revs []uint64) string {
	switch len(revs) {
	case 0:
		return "nothing"
	case 1:
		return fmt.Sprint(revs[0])
	}
	return fmt.Sprintf("%d..%d (%d)", revs[0], revs[len(revs)-1], len(revs))
}
