package history

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
	"github.com/convertfw/floatrelay/lease"
)

// Tracker makes events of the arbiter's changing status: who leads and why,
// what this member is and for how long it was, when its relay ran.
type Tracker struct {
	Station string
	Lang    words.Lang // of the texts

	begun   bool
	last    arbiter.Status
	role    time.Duration // boot time of the last change of role
	holder  lease.ID
	epoch   uint64
	name    string
	since   time.Duration // when that holder's tenure was first seen
	running time.Duration // since when the relay is ready
}

// Change returns the events between the last status and this one. wall is the
// time shown, now the boot time from which durations are counted.
func (t *Tracker) Change(wall time.Time, now time.Duration, s arbiter.Status) []localapi.Past {
	if !t.begun {
		t.begun, t.role = true, now
		t.last.Role = arbiter.Ineligible
	}
	var out []localapi.Past
	say := func(kind string, fact reason.Reason, why []reason.Reason, lasted time.Duration) {
		p := localapi.Past{
			Event: localapi.Event{
				Time: wall, Kind: kind, Text: t.Lang.Say(fact), Fact: fact, Because: why, Station: t.Station,
				Role: s.Role.String(), Epoch: s.Epoch, Rev: s.Rev,
			},
			LastedMS: lasted.Milliseconds(),
		}
		p.Reason = t.Lang.Why(p.Fact, why)
		out = append(out, p)
	}
	t.lease(now, s, say)
	if s.Role != t.last.Role && settled(s.Role) {
		say("role", reason.Reason{Code: reason.RoleChanged, Role: s.Role.String(), Found: t.last.Role.String()}, s.Reasons, now-t.role)
		t.last.Role, t.role = s.Role, now
	}
	t.relay(now, s, say)
	t.last.Relay = s.Relay
	return out
}

// settled leaves out the moment between wanting the lease and having it.
func settled(r arbiter.Role) bool { return r != arbiter.Candidate }

type sayer func(kind string, fact reason.Reason, why []reason.Reason, lasted time.Duration)

// lease tells of tenures, whoever's they are, by the records that begin and end
// them.
func (t *Tracker) lease(now time.Duration, s arbiter.Status, say sayer) {
	r := s.Head.Record
	if s.Head.Kind != lease.Valid {
		return
	}
	switch {
	case r.State == lease.Released:
		if !t.holder.IsZero() && r.Owner == t.holder && r.Epoch == t.epoch {
			say("lease", reason.Reason{Code: reason.LeaseGiven, Station: r.Station, How: r.Reason}, nil, now-t.since)
			t.holder = lease.ID{}
		}
	case r.Owner != t.holder || r.Epoch != t.epoch:
		fact := reason.Reason{Code: reason.LeaseHeld, Station: r.Station, Epoch: r.Epoch, How: r.Reason}
		if r.Reason == lease.Renewal {
			fact.How = "" // its begin was not seen here
		}
		lasted := time.Duration(0)
		if !t.holder.IsZero() {
			fact.Code, fact.Found, lasted = reason.LeaseMoved, t.name, now-t.since
		}
		say("lease", fact, nil, lasted)
		t.holder, t.epoch, t.name, t.since = r.Owner, r.Epoch, r.Station, now
	}
}

func (t *Tracker) relay(now time.Duration, s arbiter.Status, say sayer) {
	was, is := t.last.Relay == arbiter.RelayRunning, s.Relay == arbiter.RelayRunning
	switch {
	case is && !was:
		say("relay", reason.Reason{Code: reason.RelayUp, PID: s.RelayPID}, nil, 0)
		t.running = now
	case was && !is:
		say("relay", reason.Reason{Code: ended(s.Relay)}, nil, now-t.running)
	}
}

func ended(p arbiter.Phase) reason.Code {
	if p == arbiter.RelayStopping {
		return reason.RelayIsStopped
	}
	return reason.RelayIsDown
}
