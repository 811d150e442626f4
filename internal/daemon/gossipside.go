package daemon

import (
	"bytes"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/words"
	"github.com/convertfw/floatrelay/lease"
)

// ears passes what gossip hears to the arbiter. Records are opened here, so
// that the arbiter only ever sees what verified.
type ears struct {
	codec *lease.Codec
	post  func(arbiter.Event)
	table func()
	last  lease.Entry // of the newest beat: twelve in a row carry the same record
}

func (e *ears) Beat(from lease.ID, num uint64, body []byte) {
	if entry := e.open(body); entry.Kind == lease.Valid {
		e.post(arbiter.BeatReceived{From: from, Num: num, Entry: entry})
	}
}

// open is Codec.Open, done once for the same bytes.
func (e *ears) open(body []byte) lease.Entry {
	if e.last.Kind != lease.Valid || !bytes.Equal(e.last.Body, body) {
		e.last = e.codec.Open("", 0, body)
	}
	return e.last
}

func (e *ears) Vouch(from lease.ID, run string, num uint64) {
	e.post(arbiter.VouchReceived{From: from, Run: run, Num: num})
}

func (e *ears) Head(from lease.ID, body []byte) {
	if entry := e.codec.Open("", 0, body); entry.Kind == lease.Valid {
		e.post(arbiter.HeadReceived{From: from, Entry: entry})
	}
}

func (e *ears) LeaderGone(id lease.ID) { e.post(arbiter.LeaderGone{ID: id}) }

func (e *ears) Members() { e.table() }

// membersFrom translates gossip's table for the arbiter.
func membersFrom(rows []gossip.Row) []arbiter.Member {
	var out []arbiter.Member
	for _, r := range rows {
		if r.Self {
			continue
		}
		out = append(out, arbiter.Member{
			ID: r.ID, Station: r.Meta.Station, Addr: r.Addr.String(), Alive: r.Up(),
			Eligible: r.Meta.Eligible, Priority: r.Meta.Priority, Preempt: r.Meta.Preempt,
			Leads: r.Meta.Role == arbiter.Leader.String(), Share: r.Meta.Share, Rev: r.Meta.Rev, Epoch: r.Meta.Epoch,
		})
	}
	return out
}

// meta is what this member says of itself. The note is for members of the first
// release, which know no codes.
func (d *Daemon) meta(s arbiter.Status) gossip.Meta {
	why := d.whyOf(s)
	m := gossip.Meta{
		V: 1, Station: d.cfg.Station, Role: s.Role.String(), Share: s.Share, Rev: s.Rev, Epoch: s.Epoch,
		Eligible: s.Eligible, Priority: d.cfg.RelayPriority, Preempt: d.cfg.RelayPreempt,
		Why: why, Note: words.English.All(why), Version: d.opt.Version,
	}
	if s.Role == arbiter.Leader {
		m.Relay = relayAddr(s.Head.Record)
	}
	return m
}
