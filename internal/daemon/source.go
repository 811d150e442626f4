package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

func relayAddr(r lease.Record) string { return net.JoinHostPort(r.IP, strconv.Itoa(r.Port)) }

// holder returns the record of whoever leads as far as this member knows: a
// held head whose figures have not run out since it was first seen.
func (d *Daemon) holder() (lease.Record, bool) {
	s := d.driver.Status()
	r := s.Head.Record
	if s.Head.Kind != lease.Valid || r.State != lease.Held {
		return lease.Record{}, false
	}
	return r, s.HeadSeen+r.TTL >= d.opt.now()
}

// Members is the member table of the site.
func (d *Daemon) Members() localapi.Members {
	s := d.driver.Status()
	out := localapi.Members{KMSN: d.cfg.KMSN, Self: d.self.String(), Epoch: s.Epoch, Rev: s.Rev, Members: []localapi.Member{}}
	if r, ok := d.holder(); ok {
		out.Leader = r.Owner.String()
	}
	rows := d.gossip.Members()
	same := twins(rows)
	for _, r := range rows {
		m := memberRow(r, d.opt.wall())
		if r.Self {
			m.Role, m.Eligible, m.Share, m.Epoch = s.Role.String(), s.Eligible, s.Share, s.Epoch
			m.Reasons = d.ownReasons(s)
		}
		if m.Off() && d.tokens.differs(r.Addr.Addr().String()) {
			m.Reasons = append(m.Reasons, reason.Reason{Code: reason.TokenDiffersThat})
		}
		m.Reasons = append(m.Reasons, same[r.ID]...)
		m.Note = d.lang.All(m.Reasons)
		out.Members = append(out.Members, m)
	}
	sort.SliceStable(out.Members, func(i, j int) bool { return out.Members[i].Station < out.Members[j].Station })
	return out
}

func memberRow(r gossip.Row, now time.Time) localapi.Member {
	m := localapi.Member{
		ID: r.ID.String(), Station: r.Meta.Station, Addr: r.Addr.String(), State: r.State.String(),
		Role: r.Meta.Role, Epoch: r.Meta.Epoch, Priority: r.Meta.Priority, Eligible: r.Meta.Eligible,
		Reasons: r.Meta.Reasons(), Share: r.Meta.Share, Version: r.Meta.Version,
		RTT: float64(r.RTT.Microseconds()) / 1000,
	}
	if m.Off() {
		m.Role, m.Eligible = "", false
		m.Reasons = []reason.Reason{reason.Reason{Code: reason.LastSeen}.For(max(0, now.Sub(r.LastSeen)).Truncate(time.Second))}
	}
	return m
}

// Leader is where the relay is.
func (d *Daemon) Leader() (localapi.Leader, bool) {
	r, ok := d.holder()
	if !ok {
		return localapi.Leader{}, false
	}
	s := d.driver.Status()
	ready := s.Relay == arbiter.RelayRunning
	if r.Owner != d.self {
		ready = d.portAnswers(relayAddr(r))
	}
	if r.LeaseUntil == "" { // our own record: the codec stamped it while sealing
		r.LeaseUntil = d.codec.Open(r.Share, r.Rev, s.Head.Body).Record.LeaseUntil
	}
	return localapi.Leader{
		KMSN: r.KMSN, Station: r.Station, IP: r.IP, Port: r.Port,
		Epoch: r.Epoch, Rev: r.Rev, LeaseUntil: r.LeaseUntil, Ready: ready,
	}, true
}

// portAnswers asks a relay elsewhere whether it accepts connections.
func (d *Daemon) portAnswers(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, 300*time.Millisecond)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// Status is what this daemon knows of itself.
func (d *Daemon) Status() localapi.Status {
	s := d.driver.Status()
	now, rows := d.opt.now(), d.gossip.Members()
	out := localapi.Status{
		KMSN: d.cfg.KMSN, Station: d.cfg.Station,
		Role: s.Role.String(), Epoch: s.Epoch, Rev: s.Rev, Eligible: s.Eligible, Reasons: append(d.ownReasons(s), twins(rows)[d.self]...),
		Relay:  d.relayStatus(s),
		Share:  localapi.ShareStatus{Path: d.share.String(), ID: s.Share, State: "ok", LastOKMS: -1, CreateMS: s.CreateMS},
		Gossip: localapi.GossipStatus{Health: d.gossip.Health()},
		Token:  d.cfg.TokenPrint(), Rotation: d.rotation(), Forward: d.forwardStatus(),
	}
	out.Note, out.Do = d.lang.All(out.Reasons), d.lang.Cures(out.Reasons)
	if r, ok := d.holder(); ok {
		out.Leader = r.Owner.String()
	}
	if out.Leader != "" && out.Leader != d.self.String() {
		out.Clock = d.clock.status()
	}
	if s.Deadline != 0 {
		out.Fence = localapi.FenceStatus{LeftMS: max(0, (s.Deadline - now).Milliseconds()), By: s.By}
	}
	if s.ShareOK != 0 {
		out.Share.LastOKMS = (now - s.ShareOK).Milliseconds()
	}
	if out.Share.LastOKMS < 0 || out.Share.LastOKMS > shareSilent.Milliseconds() {
		out.Share.State = "no answer; see 'floatrelay doctor'"
	}
	if d.room.isFull() {
		out.Share.State = "full; " + lease.FullHint(d.share.String())
	}
	for _, r := range rows {
		if r.Up() {
			out.Gossip.Alive++
		}
	}
	return out
}

func (d *Daemon) relayStatus(s arbiter.Status) localapi.RelayStatus {
	out := localapi.RelayStatus{
		State: s.Relay.String(), PID: s.RelayPID, Restarts: s.Restarts, Since: d.timeOfDay(s.Since).Format(time.RFC3339),
	}
	f := s.Failures
	if f.Row > 0 {
		out.Failures, out.LastEnd, out.LastEndAt = f.Row, f.Last, d.timeOfDay(f.At).Format(time.RFC3339)
	}
	if f.Next > d.opt.now() {
		out.NextTry = d.timeOfDay(f.Next).Format(time.RFC3339)
	}
	return out
}

// shareSilent is when a share that has not answered is called silent. Members
// that are well informed look every 10 s only.
const shareSilent = 15 * time.Second

// Handoff gives the lease to a station or member, or to the best one.
func (d *Daemon) Handoff(_ context.Context, to string) error {
	s := d.driver.Status()
	if s.Role != arbiter.Leader {
		if r, ok := d.holder(); ok {
			return fmt.Errorf("this station does not lead: run it on %s (%s)", r.Station, r.IP)
		}
		return errors.New("this station does not lead, and nobody else does right now")
	}
	if strings.EqualFold(to, d.cfg.Station) {
		return fmt.Errorf("%s leads already", d.cfg.Station)
	}
	id, err := d.successor(to, s.Share)
	if err != nil {
		return err
	}
	d.driver.Post(arbiter.Handoff{To: id, Reason: "handoff"})
	return nil
}

// successor finds the member a handoff names.
func (d *Daemon) successor(to, share string) (lease.ID, error) {
	var fit, named []gossip.Row
	for _, r := range d.gossip.Members() {
		if r.Self {
			continue
		}
		ok := r.Up() && r.Meta.Eligible && r.Meta.Priority > 0 && r.Meta.Share == share
		if ok {
			fit = append(fit, r)
		}
		if to != "" && (strings.EqualFold(r.Meta.Station, to) || r.ID.String() == to || r.ID.Node == to) {
			if ok {
				return r.ID, nil
			}
			named = append(named, r)
		}
	}
	switch {
	case to == "" && len(fit) == 0:
		return lease.ID{}, errors.New("nobody else is eligible: see NOTE in 'floatrelay members'")
	case to == "":
		return lease.ID{}, nil
	case len(named) > 0:
		n := named[0]
		return lease.ID{}, fmt.Errorf("%s cannot take over: it is %s, %s", to, n.State, d.unfit(n))
	}
	return lease.ID{}, fmt.Errorf("no member is called %s: see 'floatrelay members'", to)
}

// unfit is why a member could not take over.
func (d *Daemon) unfit(r gossip.Row) string {
	return cmp.Or(d.lang.All(r.Meta.Reasons()), "not eligible")
}

// Drain makes this member ineligible until it is called with false. It survives
// a restart.
func (d *Daemon) Drain(_ context.Context, on bool) error {
	if err := d.state.update(func(s *state) { s.Drained = on }); err != nil {
		return err
	}
	d.notes.set("drained", drainNote(on)...)
	return nil
}

func drainNote(on bool) []reason.Reason {
	if on {
		return reason.Of(reason.Drained)
	}
	return nil
}

// Subscribe returns what changes from now on.
func (d *Daemon) Subscribe() (<-chan localapi.Event, func()) { return d.hub.Subscribe() }
