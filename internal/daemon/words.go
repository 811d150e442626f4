package daemon

import (
	"bytes"
	"slices"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// whyOf is why this member may not lead or, while it does, what is wrong with
// its relay. One failure is over before anybody looks.
func (d *Daemon) whyOf(s arbiter.Status) []reason.Reason {
	why := append(slices.Clip(d.room.explain(s.Reasons)), d.api.reasons()...)
	f := s.Failures
	if s.Role != arbiter.Leader || f.Row < 2 {
		return why
	}
	r := reason.Reason{Code: reason.RelayFailing, Count: f.Row, Detail: f.Last, At: d.timeOfDay(f.At).Format(time.RFC3339)}
	if f.Next > d.opt.now() {
		r.Next = d.timeOfDay(f.Next).Format(time.RFC3339)
	}
	return append(slices.Clip(why), r)
}

// ownReasons is everything there is to say of this PC. Who has another token is
// said once, not again of the record that was signed with it.
func (d *Daemon) ownReasons(s arbiter.Status) []reason.Reason {
	why := slices.DeleteFunc(slices.Clone(d.whyOf(s)), func(r reason.Reason) bool {
		return r.Code == reason.RecordOtherToken && d.tokens.names(r.Station)
	})
	return append(why, d.tokens.reasons()...)
}

// damaged reports heads worth a line in the log. A body that is empty or zero
// may only be on its way.
func damaged(e lease.Entry) bool {
	if e.Flaw == lease.NoFile {
		return true
	}
	return (e.Flaw == lease.Damaged || e.Flaw == lease.Misplaced) && len(bytes.Trim(e.Body, "\x00")) > 0
}

// sayDamaged says once of each record that it is none. Only the driver calls it.
func (d *Daemon) sayDamaged(s arbiter.Status) {
	if !damaged(s.Head) || s.Head.Rev == d.damagedRev {
		return
	}
	d.damagedRev = s.Head.Rev
	for _, r := range arbiter.HeadReasons(s.Share, d.cfg.KMSN, s.Head) {
		d.tell(true, r)
	}
}
