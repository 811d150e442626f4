package arbiter

import (
	"cmp"
	"slices"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// voucher is what the holder knows of a member that answers its beats.
type voucher struct {
	id lease.ID
	// v is V(m): the send time of the newest beat it vouched for.
	v time.Duration
	// since is the send time of the oldest beat of its unbroken vouching; a gap
	// of more than FENCE/2 breaks it.
	since time.Duration
}

// vouchReceived takes in an answer to one of our beats.
func (m *Machine) vouchReceived(ev VouchReceived) {
	t := m.tenure
	if t == nil || ev.Run != m.cfg.Self.Run {
		return
	}
	at, ok := t.sentAt(ev.Num)
	if !ok {
		return
	}
	t.vouched(ev.From, at, t.acked.rec.Fence/2)
}

// vouched notes a vouch for a beat sent at v.
func (t *tenure) vouched(id lease.ID, v, gap time.Duration) {
	for i := range t.vouchers {
		w := &t.vouchers[i]
		if w.id != id {
			continue
		}
		if v > w.v {
			if v-w.v > gap {
				w.since = v
			}
			w.v = v
		}
		return
	}
	t.vouchers = append(t.vouchers, voucher{id: id, v: v, since: v})
}

// sentAt returns when a beat of this tenure was sent.
func (t *tenure) sentAt(num uint64) (time.Duration, bool) {
	for i := len(t.beats) - 1; i >= 0; i-- {
		if t.beats[i].num == num {
			return t.beats[i].at, true
		}
	}
	return 0, false
}

// vouchedAt is V(m).
func (m *Machine) vouchedAt(id lease.ID) (time.Duration, bool) {
	for _, w := range m.tenure.vouchers {
		if w.id == id {
			return w.v, true
		}
	}
	return 0, false
}

// allVouched reports whether every member that others may think is on the
// roster has vouched for a beat sent at from or later.
func (m *Machine) allVouched(from time.Duration) bool {
	for _, id := range m.claimed().roster {
		if v, ok := m.vouchedAt(id); !ok || v < from {
			return false
		}
	}
	return true
}

// roster chooses the roster of the next renewal: who is on it and not silent
// for FENCE/2 stays, who has vouched unbroken for 2·FENCE gets in, best first.
func (m *Machine) roster() []lease.ID {
	t := m.tenure
	fence := t.acked.rec.Fence
	var in []Member
	for _, p := range m.peers.rows {
		if !m.mayFollow(p) {
			continue
		}
		v, ok := m.vouchedAt(p.ID)
		switch {
		case t.acked.rec.OnRoster(p.ID):
			if !ok {
				v = t.since
			}
			if m.now-v > fence/2 {
				continue
			}
		case !ok || m.now-v > fence/2 || v-m.vouchingSince(p.ID) < 2*fence:
			continue
		}
		in = append(in, p)
	}
	return bestIDs(in, lease.RosterMax)
}

func (m *Machine) vouchingSince(id lease.ID) time.Duration {
	for _, w := range m.tenure.vouchers {
		if w.id == id {
			return w.since
		}
	}
	return m.now
}

// rosterChanged reports whether the next record would name other members.
func (m *Machine) rosterChanged() bool {
	now, next := m.tenure.acked.rec.Roster, m.roster()
	if len(now) != len(next) {
		return true
	}
	for _, id := range next {
		if !containsID(now, id) {
			return true
		}
	}
	return false
}

// firstRoster is the roster of a tenure's first record: whom gossip shows alive
// and eligible.
func (m *Machine) firstRoster() []lease.ID {
	var in []Member
	for _, p := range m.peers.rows {
		if m.mayFollow(p) {
			in = append(in, p)
		}
	}
	return bestIDs(in, lease.RosterMax)
}

// mayFollow reports whether a member could be on our roster.
func (m *Machine) mayFollow(p Member) bool {
	return p.Alive && p.Eligible && p.Priority > 0 && p.Share == m.chain.share
}

// beatTargets are the roster and the members that might join it.
func (m *Machine) beatTargets() []lease.ID {
	to := append([]lease.ID(nil), m.claimed().roster...)
	for _, id := range m.firstRoster() {
		if !containsID(to, id) {
			to = append(to, id)
		}
	}
	return to
}

// bestIDs orders members by priority, then node, and cuts the list.
func bestIDs(in []Member, most int) []lease.ID {
	slices.SortFunc(in, better)
	ids := make([]lease.ID, 0, min(len(in), most))
	for _, p := range in[:min(len(in), most)] {
		ids = append(ids, p.ID)
	}
	return ids
}

// better orders members: higher priority first, then by UUID.
func better(a, b Member) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID.Node, b.ID.Node), cmp.Compare(a.ID.Run, b.ID.Run))
}
