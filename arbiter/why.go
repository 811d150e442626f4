package arbiter

import (
	"strconv"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// because makes a code a reason not to lead.
func because(code reason.Code) []reason.Reason { return reason.Of(code) }

// HeadReasons is what is wrong with the newest record, or nothing.
func HeadReasons(share, kmsn string, e lease.Entry) []reason.Reason {
	r := reason.Reason{Rev: e.Rev}
	switch {
	case e.Kind == lease.Foreign:
		r.Code, r.Found, r.Want = reason.RecordForeign, e.Named, kmsn
	case e.Kind == lease.Newer:
		r.Code, r.Found, r.Want = reason.RecordNewer, e.Named, strconv.Itoa(lease.Version)
	case e.Kind != lease.Unknown || e.Flaw == lease.NoFlaw:
		return nil
	case e.Flaw == lease.OtherToken:
		r.Code, r.Station = reason.RecordOtherToken, e.Named
	case e.Flaw == lease.NoFile:
		r.Code, r.Detail = reason.RecordIrregular, e.Cause
	default:
		r.Code, r.Detail = reason.RecordDamaged, e.Cause
		if e.Flaw == lease.Empty {
			r.Code, r.Detail = reason.RecordEmpty, ""
		}
		if share != "" {
			r.Path = lease.RecordName(share, e.Rev)
		}
	}
	return []reason.Reason{r}
}

// say reports what happened.
func (m *Machine) say(warn bool, r reason.Reason, because ...reason.Reason) {
	m.emit(Report{Warn: warn, Reason: r, Because: because})
}

// RelayFailures are the failures of the relay since it last ran for a minute, as
// long as this PC has not handed over because of them.
type RelayFailures struct {
	Row  int
	Last string        // how the last one went, word for word
	At   time.Duration // boot time of the last one
	Next time.Duration // boot time of the next start; zero unless one is waited for
}

// relayFailures is the memory of failures as status shows it.
func (m *Machine) relayFailures() RelayFailures {
	c, r := &m.crashes, &m.relay
	calm := r.phase == RelayRunning && m.now-r.upAt >= longLife
	if c.count == 0 || calm || m.tenure == nil && c.count >= crashLimit {
		return RelayFailures{}
	}
	f := RelayFailures{Row: c.count, Last: c.note, At: c.last}
	if m.tenure != nil && r.phase == RelayNone && c.next > m.now {
		f.Next = c.next
	}
	return f
}
