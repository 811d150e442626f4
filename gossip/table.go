package gossip

import (
	"net/netip"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/convertfw/floatrelay/lease"
)

// Bounds of what is remembered of members that are off.
const (
	maxOff = 400
	offAge = 30 * 24 * time.Hour
	// byeLate is how long after memberlist's notice a goodbye still counts.
	byeLate = 5 * time.Second
)

// table is our own list of members. memberlist's shows neither suspicion nor
// the members it has given up, and its nodes must not be read outside its lock.
// The table is fed from memberlist's callbacks and never calls back.
type table struct {
	changed func()            // called without the lock after every visible change
	claimed func()            // called with the lock when a run must be asked; never blocks
	came    func(addr string) // called without the lock when a run has proved itself

	mu     sync.Mutex
	rows   map[string]*Row   // by memberlist name
	proofs map[string]*proof // of those that memberlist believes in
	byes   map[string]bool   // those who said goodbye
	now    func() time.Time
}

func newTable(changed func(), remembered []Row) *table {
	t := &table{
		changed: changed, claimed: func() {}, came: func(string) {},
		rows: map[string]*Row{}, proofs: map[string]*proof{}, byes: map[string]bool{}, now: time.Now,
	}
	for _, r := range remembered {
		r.State, r.Self = Dead, false
		t.rows[r.ID.String()] = &r
	}
	t.prune()
	return t
}

// parseName takes a memberlist name apart: node/run.
func parseName(name string) (lease.ID, bool) {
	node, run, ok := strings.Cut(name, "/")
	id := lease.ID{Node: node, Run: run}
	return id, ok && checkID(id) == nil
}

// update copies what memberlist says of a node. It is called with memberlist's
// lock held.
func (t *table) update(n *memberlist.Node, s State, self bool, gen uint64) {
	id, ok := parseName(n.Name)
	if !ok {
		return
	}
	ip, _ := netip.AddrFromSlice(n.Addr)
	addr := netip.AddrPortFrom(ip.Unmap(), n.Port)
	meta, err := DecodeMeta(n.Meta)
	if err != nil {
		meta = Meta{Note: "its metadata cannot be read"}
	}
	t.mu.Lock()
	r := t.rows[n.Name]
	if r == nil {
		r = &Row{ID: id, Self: self}
		t.rows[n.Name] = r
	}
	if gen < r.gen {
		t.mu.Unlock()
		return // the last words of a memberlist that is gone
	}
	if s == Dead && t.byes[n.Name] {
		s = Left
	}
	delete(t.byes, n.Name)
	switch {
	case s < Suspect:
		t.deny(r)
	case !self && !r.Up():
		t.claim(r)
		s = r.State
	default:
		t.claimed() // its share may be another one now
	}
	if s >= Suspect || r.Up() || r.LastSeen.IsZero() {
		r.LastSeen = t.now()
	}
	r.Addr, r.State, r.Meta, r.gen = addr, s, meta, gen
	t.prune()
	t.mu.Unlock()
	t.changed()
}

// sweep gives up the members that no memberlist since gen has seen.
func (t *table) sweep(gen uint64) {
	t.mu.Lock()
	hit := false
	for _, r := range t.rows {
		if r.gen < gen && (r.Up() || r.claimed) && !r.Self {
			t.deny(r)
			r.State, hit = Dead, true
		}
	}
	t.mu.Unlock()
	if hit {
		t.changed()
	}
}

// suspect marks a member that did not answer a probe of ours.
func (t *table) suspect(name string) { t.flip(name, Alive, Suspect) }

// heard notes a sign of life that ends a suspicion.
func (t *table) heard(name string, rtt time.Duration) {
	t.mu.Lock()
	if r := t.rows[name]; r != nil && r.Up() {
		r.LastSeen = t.now()
		if rtt > 0 {
			r.RTT = rtt
		}
	}
	t.mu.Unlock()
	t.flip(name, Suspect, Alive)
}

// bye notes that a member is leaving; memberlist's own notice follows, or came
// just before.
func (t *table) bye(name string) {
	t.mu.Lock()
	r := t.rows[name]
	late := r != nil && r.State == Dead && t.now().Sub(r.LastSeen) < byeLate
	if late {
		r.State = Left
	} else if r != nil && (r.Up() || r.claimed) {
		t.byes[name] = true
	}
	t.mu.Unlock()
	if late {
		t.changed()
	}
}

func (t *table) flip(name string, from, to State) {
	t.mu.Lock()
	r := t.rows[name]
	hit := r != nil && r.State == from && !r.Self
	if hit {
		r.State = to
	}
	t.mu.Unlock()
	if hit {
		t.changed()
	}
}

// prune drops rows that say nothing any more: runs of a node that has a newer
// one, and what is too old or too much. The lock is held.
func (t *table) prune() {
	best := map[string]*Row{}
	off := []*Row{}
	for _, r := range t.rows {
		if b := best[r.ID.Node]; b == nil || better(r, b) {
			best[r.ID.Node] = r
		}
	}
	for name, r := range t.rows {
		switch {
		case r.Up(), r.claimed:
		case best[r.ID.Node] != r, t.now().Sub(r.LastSeen) > offAge:
			delete(t.rows, name)
		default:
			off = append(off, r)
		}
	}
	if len(off) <= maxOff {
		return
	}
	sort.Slice(off, func(i, j int) bool { return off[i].LastSeen.Before(off[j].LastSeen) })
	for _, r := range off[:len(off)-maxOff] {
		delete(t.rows, r.ID.String())
	}
}

// better says which of two runs of a node tells more: a live one, then the one
// seen later.
func better(a, b *Row) bool {
	if a.Up() != b.Up() {
		return a.Up()
	}
	return a.LastSeen.After(b.LastSeen)
}

// forget drops the rows at an address unless they are up, and reports whether
// there was one.
func (t *table) forget(addr netip.AddrPort) bool {
	t.mu.Lock()
	n := len(t.rows)
	for name, r := range t.rows {
		if r.Addr == addr && !r.Up() {
			delete(t.rows, name)
			delete(t.proofs, name)
		}
	}
	hit := len(t.rows) != n
	t.mu.Unlock()
	if hit {
		t.changed()
	}
	return hit
}

// get returns one member's row.
func (t *table) get(id lease.ID) (Row, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.rows[id.String()]; r != nil {
		return r.copy(), true
	}
	return Row{}, false
}

// list returns all rows: self first, then by station and id.
func (t *table) list() []Row {
	t.mu.Lock()
	rows := make([]Row, 0, len(t.rows))
	for _, r := range t.rows {
		rows = append(rows, r.copy())
	}
	t.mu.Unlock()
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		switch {
		case a.Self != b.Self:
			return a.Self
		case a.Meta.Station != b.Meta.Station:
			return a.Meta.Station < b.Meta.Station
		}
		return a.ID.String() < b.ID.String()
	})
	return rows
}

func (r *Row) copy() Row {
	c := *r
	c.Meta.Keys = slices.Clone(r.Meta.Keys)
	return c
}
