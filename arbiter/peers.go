package arbiter

import (
	"slices"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

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
		m.endTenure(reason.Reason{Code: reason.EndedLowerShare, Station: p.Station, Addr: p.Addr, Share: p.Share, OwnShare: m.chain.share})
	}
}

// ineligible returns why this member may not lead, or nothing.
func (m *Machine) ineligible() []reason.Reason {
	why := m.barred()
	if len(why) == 0 && m.now < m.crashes.until && m.othersEligible() {
		m.wakeAt(m.crashes.until)
		return []reason.Reason{m.crashes.resting()}
	}
	return why
}

// barred is ineligible without the crash policy's pause.
func (m *Machine) barred() []reason.Reason {
	c := &m.chain
	switch {
	case m.stop.Final:
		return because(reason.Stopping)
	case len(m.outside) > 0:
		return m.outside
	case m.cfg.Priority <= 0:
		return because(reason.PriorityZero)
	case !m.relay.clear:
		return because(reason.EarlierRelay)
	}
	if why := m.shareTrouble(); len(why) > 0 {
		return why
	}
	if m.peers.cloned {
		if m.now >= m.peers.cloneFrom+cloneAfter {
			p := m.peers.clone
			return []reason.Reason{{Code: reason.CloneRuns, Station: p.Station, Addr: p.Addr, Own: m.cfg.Station, OwnAddr: m.cfg.IP}}
		}
		m.wakeAt(m.peers.cloneFrom + cloneAfter)
	}
	if p, ok := m.lowerShare(); ok && m.chain.share != "" {
		return []reason.Reason{{Code: reason.LowerShare, Station: p.Station, Addr: p.Addr, Share: p.Share, OwnShare: c.share}}
	} else if ok {
		return []reason.Reason{{Code: reason.NoChainHere, Station: p.Station, Addr: p.Addr, Share: p.Share}}
	}
	return nil
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
func (m *Machine) shareTrouble() []reason.Reason {
	c := &m.chain
	switch {
	case c.refused && m.tenure == nil:
		return because(reason.ChainRefused)
	case !c.answered:
		return because(reason.ShareUnasked)
	case m.now-c.okAt > lease.TTLMax:
		return because(reason.ShareSilent)
	}
	m.wakeAt(c.okAt + lease.TTLMax + time.Millisecond)
	if h := c.head; h.entry.Kind == lease.Newer {
		return HeadReasons(c.share, m.cfg.KMSN, h.entry)
	}
	if c.denied && m.tenure == nil && m.now < c.deniedAt+deniedPause {
		m.wakeAt(c.deniedAt + deniedPause)
		return because(reason.ShareDenied)
	}
	if c.unseenRev == 0 || m.emptied() {
		return nil
	}
	at := c.unseenFrom + 2*m.cfg.Poll + cacheAge
	if m.now >= at {
		return []reason.Reason{{Code: reason.RecordUnseen, Rev: c.unseenRev}}
	}
	m.wakeAt(at)
	return nil
}
