package arbiter

import (
	"fmt"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// brief is an action in a few words, as the scenario scripts show it.
func brief(codec memo, a Action) string {
	switch a := a.(type) {
	case List:
		return "list"
	case Read:
		return fmt.Sprintf("read %d", a.Rev)
	case Create:
		return "create " + briefBody(codec, a.Body)
	case Found:
		return fmt.Sprintf("found %s with %s", a.Share, briefBody(codec, a.Genesis))
	case Publish:
		return fmt.Sprintf("publish rev %d epoch %d ready=%t", a.Record.Rev, a.Record.Epoch, a.Ready)
	case Housekeep:
		return fmt.Sprintf("housekeep %v", a.Revs)
	case SendBeat:
		return fmt.Sprintf("beat %d to %s: %s", a.Num, letters(a.To), briefBody(codec, a.Body))
	case SendVouch:
		return fmt.Sprintf("vouch to %s for beat %d", letter(a.To), a.Num)
	case SendHead:
		how := ""
		if a.Reliable {
			how = " reliably"
		}
		return fmt.Sprintf("head to %s%s: %s", letter(a.To), how, briefBody(codec, a.Body))
	case Watch:
		return "watch " + letter(a.ID)
	}
	return briefRelay(a)
}

func briefRelay(a Action) string {
	switch a := a.(type) {
	case StartRelay:
		return fmt.Sprintf("START relay gen %d epoch %d until %s", a.Gen, a.Epoch, clockText(a.Until))
	case SetUntil:
		return fmt.Sprintf("until %s", clockText(a.Until))
	case SetWill:
		return fmt.Sprintf("will after rev %d", a.Record.Rev)
	case StopRelay:
		if a.Grace == 0 {
			return fmt.Sprintf("KILL relay gen %d", a.Gen)
		}
		return fmt.Sprintf("STOP relay gen %d within %v", a.Gen, a.Grace)
	case Report:
		mark := "say"
		if a.Warn {
			mark = "warn"
		}
		return mark + ": " + reportText(a)
	case Finished:
		return "finished"
	}
	return fmt.Sprintf("%#v", a)
}

func briefBody(codec memo, body []byte) string {
	e := codec.Open("", 0, body)
	if e.Kind != lease.Valid {
		return e.Kind.String()
	}
	return briefRecord(e.Record)
}

func briefRecord(r lease.Record) string {
	s := fmt.Sprintf("rev %d epoch %d %s %s (%s)", r.Rev, r.Epoch, r.State, letter(r.Owner), r.Reason)
	if len(r.Roster) > 0 {
		s += " roster " + letters(r.Roster)
	}
	if !r.Successor.IsZero() {
		s += " successor " + letter(r.Successor)
	}
	return s
}

func letters(ids []lease.ID) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = letter(id)
	}
	return strings.Join(names, ",")
}

// zero is the boot time at which every test begins.
const zero = 100 * time.Second

// clockText is an instant counted from the begin of the test.
func clockText(at time.Duration) string { return fmt.Sprintf("%.3fs", (at - zero).Seconds()) }
