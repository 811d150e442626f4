package history

import (
	"fmt"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

// Tracker makes events of the arbiter's changing status: who leads and why,
// what this member is and for how long it was, when its relay ran.
type Tracker struct {
	Station string

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
		t.last.Role, t.last.Note = arbiter.Ineligible, "starting"
	}
	var out []localapi.Past
	say := func(kind, text, reason string, lasted time.Duration) {
		out = append(out, localapi.Past{
			Event: localapi.Event{
				Time: wall, Kind: kind, Text: text, Station: t.Station,
				Role: s.Role.String(), Epoch: s.Epoch, Rev: s.Rev,
			},
			Reason: reason, LastedMS: lasted.Milliseconds(),
		})
	}
	t.lease(now, s, say)
	if s.Role != t.last.Role && settled(s.Role) {
		say("role", fmt.Sprintf("this PC is %s, was %s", s.Role, t.last.Role), s.Note, now-t.role)
		t.last.Role, t.role = s.Role, now
	}
	t.relay(now, s, say)
	t.last.Relay = s.Relay
	return out
}

// settled leaves out the moment between wanting the lease and having it.
func settled(r arbiter.Role) bool { return r != arbiter.Candidate }

type sayer func(kind, text, reason string, lasted time.Duration)

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
			say("lease", r.Station+" gave the lease back", r.Reason, now-t.since)
			t.holder = lease.ID{}
		}
	case r.Owner != t.holder || r.Epoch != t.epoch:
		text := fmt.Sprintf("%s has the lease, epoch %d", r.Station, r.Epoch)
		lasted := time.Duration(0)
		if !t.holder.IsZero() {
			text, lasted = fmt.Sprintf("%s; %s had it", text, t.name), now-t.since
		}
		reason := r.Reason
		if reason == "renew" {
			reason = "" // its begin was not seen here
		}
		say("lease", text, reason, lasted)
		t.holder, t.epoch, t.name, t.since = r.Owner, r.Epoch, r.Station, now
	}
}

func (t *Tracker) relay(now time.Duration, s arbiter.Status, say sayer) {
	was, is := t.last.Relay == arbiter.RelayRunning, s.Relay == arbiter.RelayRunning
	switch {
	case is && !was:
		say("relay", fmt.Sprintf("relay ready (pid %d)", s.RelayPID), "", 0)
		t.running = now
	case was && !is:
		say("relay", "relay "+ended(s.Relay), "", now-t.running)
	}
}

func ended(p arbiter.Phase) string {
	if p == arbiter.RelayStopping {
		return "is being stopped"
	}
	return "ended"
}
