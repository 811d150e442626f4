package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/convertfw/floatrelay/internal/localapi"
)

// clockSlack is how far wall clocks may differ before it is mentioned. Nothing
// is decided by them; people compare logs, and clients read lease_until.
const clockSlack = 5 * time.Second

// clocksCheck compares wall clocks and time zones with the members'.
func clocksCheck(survey poll, now func() time.Time) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		s, err := survey(ctx)
		if err != nil {
			return // the members check says why
		}
		_, east := now().Zone()
		judgeClocks(s, east, tell)
	}
}

const setClock = "let every PC take its time from the same source (w32tm /resync); programs that read lease_until compare it with their own clock"

func judgeClocks(s localapi.Survey, east int, tell Tell) {
	var far, near []localapi.Surveyed
	var zones groups
	for _, m := range s.Members {
		if !m.Answered {
			continue
		}
		if skew(m).Abs() > clockSlack+sure(m) {
			far = append(far, m)
		} else {
			near = append(near, m)
		}
		if m.ZoneSec != east {
			zones.add(finding{Warning, fmt.Sprintf("this PC has time zone %s, not so (%s): %%s", utc(east), utc(m.ZoneSec)), "set the same time zone on every PC"}, who(m))
		}
	}
	switch {
	case len(far) >= 2 && len(near) == 0 && agree(far):
		tell.Warn(setClock, "the clock of this PC is %s all others", ahead(-skew(far[0])))
	default:
		for _, m := range far {
			tell.Warn(setClock, "the clock of %s is %s that of this PC", who(m), ahead(skew(m)))
		}
	}
	zones.tell(tell)
	if len(far) == 0 && len(near) > 0 && len(zones.order) == 0 {
		tell.OK("the clocks and time zones of %d other PCs agree with this one's (%s)", len(near), utc(east))
	}
}

func skew(m localapi.Surveyed) time.Duration { return time.Duration(m.SkewMS) * time.Millisecond }

// sure is how exact the skew is.
func sure(m localapi.Surveyed) time.Duration {
	return time.Duration(m.RTT / 2 * float64(time.Millisecond))
}

// agree reports whether all are off by the same, so that it is this PC that is.
func agree(ms []localapi.Surveyed) bool {
	for _, m := range ms {
		if (skew(m) - skew(ms[0])).Abs() > clockSlack {
			return false
		}
	}
	return true
}

func ahead(d time.Duration) string {
	if d < 0 {
		return fmt.Sprintf("%v behind", (-d).Round(time.Second))
	}
	return fmt.Sprintf("%v ahead of", d.Round(time.Second))
}

// utc names an offset: UTC+8, UTC-3:30.
func utc(sec int) string {
	sign := '+'
	if sec < 0 {
		sign, sec = '-', -sec
	}
	text := fmt.Sprintf("UTC%c%d", sign, sec/3600)
	if m := sec % 3600 / 60; m != 0 {
		text += fmt.Sprintf(":%02d", m)
	}
	return text
}

// raceCheck says how this PC and another one raced for new files.
func raceCheck(survey poll) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		if s, err := survey(ctx); err == nil && s.Race != nil {
			judgeRace(*s.Race, tell)
		}
	}
}

func judgeRace(r localapi.Race, tell Tell) {
	switch {
	case r.Both > 0:
		tell.Fail("turn off Offline Files and replication for this share, or use another kind of share (a Windows or Samba server): on this one two PCs could both lead",
			"this PC and %s both created the same new file, in %d of %d rounds", r.With, r.Both, r.Rounds)
	case r.Error != "":
		tell.Warn("repeat the check; if it stays, run 'floatrelay doctor' on both PCs", "no race with %s: %s", r.With, r.Error)
	case r.None > 0 || r.Rounds == 0:
		tell.Warn("repeat the check", "the race with %s tells nothing: in %d of %d rounds nobody could create the file", r.With, r.None, r.Rounds)
	default:
		tell.OK("creating a new file is exclusive between this PC and %s: one winner in each of %d races", r.With, r.Rounds)
	}
}
