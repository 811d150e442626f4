package arbiter

import (
	"fmt"
	"slices"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// NoteDenied is why a member may not lead to which the share refused a record.
// The machine does not know the reason; who does, as of a full share, says so in
// its place.
const NoteDenied = "no write access to LEASE_DIR: creating a record was denied"

// NoteRefused is why a member may not lead that may not read the chain.
const NoteRefused = "access to the chain in LEASE_DIR is denied: this account must be able to read and write there"

// cloneAfter is how long another run of our own node must stay alive before it
// is called a clone: a restart leaves its old run in the table for as long as
// gossip needs to notice (at most 2.1 s measured).
const cloneAfter = 6 * time.Second

// peers is what gossip says of the others.
type peers struct {
	following
	rows []Member // sorted by ID, self excluded

	failed map[string]time.Duration // by node: when its PC gave the lease back because no relay ran there

	clone     Member // alive with our node UUID and another run
	cloneFrom time.Duration
	cloned    bool

	otherShare string // share id of beats that are not of our chain
	otherBy    string
	otherFrom  time.Duration
	otherAt    time.Duration

	ledAt time.Duration // when a live member last led in another folder; zero if none has
}

// set takes in a new member table.
func (p *peers) set(now time.Duration, self lease.ID, rows []Member) {
	p.rows = append(p.rows[:0], rows...)
	slices.SortFunc(p.rows, func(a, b Member) int {
		if a.ID.Node != b.ID.Node {
			return cmpString(a.ID.Node, b.ID.Node)
		}
		return cmpString(a.ID.Run, b.ID.Run)
	})
	p.findClone(now, self)
}

// findClone keeps to the clone it has found while that is alive; there may be
// several.
func (p *peers) findClone(now time.Duration, self lease.ID) {
	old, was := p.clone.ID, p.cloned
	p.cloned = false
	for _, r := range p.rows {
		if !r.Alive || r.ID.Node != self.Node || r.ID.Run == self.Run {
			continue
		}
		if was && r.ID == old {
			p.clone, p.cloned = r, true
			return
		}
		if !p.cloned {
			p.clone, p.cloned = r, true
		}
	}
	if p.cloned {
		p.cloneFrom = now
	}
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// elsewhere reports whether beats of that other share were the last odd ones.
func (p *peers) elsewhere(share string) bool { return p.otherShare == share }

// eligiblePeer reports whether a member is alive, eligible and on our share.
func (m *Machine) eligiblePeer(id lease.ID) bool {
	if id.IsZero() {
		return false
	}
	for _, p := range m.peers.rows {
		if p.ID == id {
			return m.mayFollow(p)
		}
	}
	return false
}

// othersEligible reports whether anybody else could lead.
func (m *Machine) othersEligible() bool {
	for _, p := range m.peers.rows {
		if m.mayFollow(p) && p.ID.Node != m.cfg.Self.Node {
			return true
		}
	}
	return false
}

// lowerShare returns the alive member with the lowest share id below ours
// (rule 10).
func (m *Machine) lowerShare() (Member, bool) {
	var low Member
	found := false
	for _, p := range m.peers.rows {
		if !p.Alive || p.Share == "" || m.chain.share != "" && p.Share >= m.chain.share {
			continue
		}
		if !found || p.Share < low.Share {
			low, found = p, true
		}
	}
	return low, found
}

// heardOfChain restarts the wait for founding a chain while a live member names
// one that would outrank ours: it existed until now, even if our own listings,
// which may be 10 s old, never showed it and it is gone again. It does so too
// whenever a named one has grown: somebody leads in another folder than the empty
// one here, such as another disk under the same letter. In both cases the holder may
// run for up to TTL_MAX after that.
func (m *Machine) heardOfChain() {
	c := &m.chain
	if !c.missing {
		return
	}
	if _, ok := m.lowerShare(); ok {
		c.missingFrom = m.now
	}
	for _, p := range m.peers.rows {
		if p.Alive && p.Share != "" && p.Rev > c.namedRev {
			c.namedRev, c.missingFrom = p.Rev, m.now
		}
	}
}

// heardOfLeader notes that a live member leads in another folder. It steps down
// as soon as it hears that ours outranks it; until it says so, and for FENCE' after
// that, in which its relay is killed, nobody takes over here.
func (m *Machine) heardOfLeader() {
	for _, p := range m.peers.rows {
		if p.Alive && p.Leads && p.Share != "" && m.chain.share != "" && p.Share != m.chain.share {
			m.peers.ledAt = m.now
		}
	}
}

// chainNamed returns a live member that sees a lease chain.
func (m *Machine) chainNamed() (Member, bool) {
	for _, p := range m.peers.rows {
		if p.Alive && p.Share != "" {
			return p, true
		}
	}
	return Member{}, false
}

// checkShareOrder makes a holder on the wrong share step down at once.
func (m *Machine) checkShareOrder() {
	if m.tenure == nil {
		return
	}
	if p, ok := m.lowerShare(); ok {
		m.endTenure(true, "%s (%s) uses share %s, this station uses %s; the lowest wins", p.Station, p.Addr, p.Share, m.chain.share)
	}
}

// ineligible returns why this member may not lead, or "".
func (m *Machine) ineligible() string {
	note := m.barred()
	if note == "" && m.now < m.crashes.until && m.othersEligible() {
		m.wakeAt(m.crashes.until)
		return fmt.Sprintf("the relay failed here (%s); not leading until it has rested", m.crashes.note)
	}
	return note
}

// barred is ineligible without the crash policy's pause.
func (m *Machine) barred() string {
	c := &m.chain
	switch {
	case m.stop.Final:
		return "stopping"
	case m.outside != "":
		return m.outside
	case m.cfg.Priority <= 0:
		return "RELAY_PRIORITY is 0"
	case !m.relay.clear:
		return "a relay of an earlier run is still being stopped"
	}
	if note := m.shareTrouble(); note != "" {
		return note
	}
	if m.peers.cloned {
		if m.now >= m.peers.cloneFrom+cloneAfter {
			return fmt.Sprintf("another PC runs with this node's identity: %s at %s, this one is %s at %s; give one of them a new STATE_DIR", m.peers.clone.Station, m.peers.clone.Addr, m.cfg.Station, m.cfg.IP)
		}
		m.wakeAt(m.peers.cloneFrom + cloneAfter)
	}
	if p, ok := m.lowerShare(); ok && m.chain.share != "" {
		return fmt.Sprintf("another share: %s (%s) uses share %s, this station %s; the lowest wins, set LEASE_DIR alike", p.Station, p.Addr, p.Share, c.share)
	} else if ok {
		return fmt.Sprintf("LEASE_DIR holds no lease chain, but %s (%s) uses share %s: set LEASE_DIR alike", p.Station, p.Addr, p.Share)
	}
	return ""
}

// emptied reports whether the folder was emptied under all of us: no chain has
// been here, none has grown elsewhere and nobody has beaten us for TTL_MAX. While an
// older record is still shown, silence proves nothing: this is the offline copy of
// a PC whose LAN is cut.
func (m *Machine) emptied() bool {
	c := &m.chain
	return c.missing && m.now-max(c.missingFrom, c.unseenAt) > lease.TTLMax
}

// shareTrouble returns why the share, as this member sees it, is not fit to
// lead on.
func (m *Machine) shareTrouble() string {
	c := &m.chain
	switch {
	case c.refused && m.tenure == nil:
		return NoteRefused
	case !c.answered:
		return "the share has not answered yet"
	case m.now-c.okAt > lease.TTLMax:
		return "the share does not answer"
	}
	m.wakeAt(c.okAt + lease.TTLMax + time.Millisecond)
	if h := c.head; h.entry.Kind == lease.Foreign || h.entry.Kind == lease.Newer {
		return h.entry.Cause
	}
	if c.denied && m.tenure == nil && m.now < c.deniedAt+deniedPause {
		m.wakeAt(c.deniedAt + deniedPause)
		return NoteDenied
	}
	if c.unseenRev == 0 || m.emptied() {
		return ""
	}
	at := c.unseenFrom + 2*m.cfg.Poll + cacheAge
	if m.now >= at {
		return fmt.Sprintf("record %d is on the others' share and not on ours: another share or an offline copy of it", c.unseenRev)
	}
	m.wakeAt(at)
	return ""
}
