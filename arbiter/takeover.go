package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// taking is what a member remembers of its attempts to take over.
type taking struct {
	tenures uint64 // number of the newest tenure this run has tried to begin
	rev     uint64 // rev that tenure would begin with
	next    time.Duration
	want    bool // a fresh listing is wanted
	delay   delay
}

// delay is the place in the order of candidates, drawn once per occasion.
type delay struct {
	rev  uint64
	path path
	wait time.Duration
	set  bool
}

// path is the way by which a takeover is allowed (rule 4).
type path uint8

const (
	pathNone     path = iota
	pathReleased      // the head was given back
	pathOwn           // the head is this very run's, and nothing of it is left
	pathSameBoot      // the head is an earlier run's of this node, and guard.lock is ours
	pathRoster        // FENCE' without a new record and without a vouch of ours
	pathTTL           // TTL' without a new record
	pathUnknown       // TTL_MAX' without a new record
	pathMissing       // TTL_MAX' without any chain
)

// String names the path as the reason written into the record.
func (p path) String() string {
	return [...]string{"none", "released", "resumed", "same-boot", "fence", "ttl", "unknown", "new-chain"}[p]
}

// takeOver creates head+1 once rule 4 allows it.
func (m *Machine) takeOver() {
	m.taking.want = false
	if m.tenure != nil || m.relay.phase != RelayNone || m.creating.busy() || len(m.ineligible()) > 0 {
		return
	}
	p, at := m.allowed()
	if p == pathNone {
		return
	}
	free := at
	at = max(at+m.turn(p), m.taking.next)
	if m.heardOfLeader(); m.peers.ledAt != 0 {
		at = max(at, m.peers.ledAt+prime(m.cfg.Fence))
	}
	if m.now < at {
		m.wakeAt(at)
		return
	}
	// Whoever was away or looks rarely must have looked since it was allowed.
	after := time.Duration(0)
	if p == pathTTL || p == pathUnknown {
		after = free
	}
	c := &m.chain
	if p == pathMissing {
		if m.now-c.missingAt < m.patience() {
			m.found()
		}
		return
	}
	if !c.listedOnce || m.now-c.listedAt >= listingAge-cacheAge || c.listedAt < after {
		m.taking.want = true
		return
	}
	if m.digFor() != 0 {
		return // rule 11 wants the newest readable record
	}
	m.take(p)
}

// allowed returns the way by which this member may take over and from when on,
// its place in the order not counted.
func (m *Machine) allowed() (path, time.Duration) {
	c := &m.chain
	if c.missing {
		wait := prime(lease.TTLMax)
		if _, named := m.chainNamed(); named {
			wait *= 2 // in their folder somebody takes over first, if anybody there may lead
		}
		return pathMissing, c.missingFrom + wait
	}
	if c.share == "" || c.head.rev == 0 {
		return pathNone, 0
	}
	h, r := c.head, c.head.entry.Record
	switch h.entry.Kind {
	case lease.Newer:
		return pathNone, 0
	case lease.Valid:
	default:
		if h.own {
			return pathOwn, max(h.seen, m.relay.downAt)
		}
		return pathUnknown, h.seen + prime(lease.TTLMax)
	}
	switch {
	case r.State == lease.Released:
		return pathReleased, max(h.seen, m.relay.downAt)
	case m.me(r.Owner):
		return pathOwn, max(h.seen, m.relay.downAt)
	case r.Owner.Node == m.cfg.Self.Node && r.Boot == m.cfg.Boot && m.relay.clear:
		return pathSameBoot, h.seen
	case r.OnRoster(m.cfg.Self):
		since := h.seen
		if m.peers.vouched {
			since = max(since, m.peers.vouchAt)
		}
		return pathRoster, since + prime(r.Fence)
	}
	return pathTTL, h.seen + prime(r.TTL)
}

// turn is this member's place in the order: the successor, then priority, then
// UUID, 150 ms apart; outsiders add a random time. The order saves creates; it
// carries no safety.
func (m *Machine) turn(p path) time.Duration {
	d := &m.taking.delay
	if d.set && d.rev == m.chain.head.rev && d.path == p {
		return d.wait
	}
	*d = delay{rev: m.chain.head.rev, path: p, set: true, wait: m.place(p)}
	return d.wait
}

func (m *Machine) place(p path) time.Duration {
	r := m.chain.head.entry.Record
	switch p {
	case pathOwn, pathSameBoot:
		return 0
	case pathReleased, pathRoster:
		return m.rosterPlace(r, p)
	default:
		return m.random(200*time.Millisecond, time.Second)
	}
}

// rosterPlace counts who comes before this member after a release or a silent
// holder.
func (m *Machine) rosterPlace(r lease.Record, p path) time.Duration {
	self := m.cfg.Self
	if r.Successor == self {
		return 0
	}
	place := time.Duration(0)
	if m.eligiblePeer(r.Successor) {
		place += orderGap
	}
	ahead := 0
	for _, id := range r.Roster {
		if id == self {
			return place + time.Duration(ahead)*orderGap
		}
		if id != r.Successor && id != r.Owner && m.eligiblePeer(id) {
			ahead++
		}
	}
	place += time.Duration(ahead) * orderGap
	if m.me(r.Owner) && r.Reason != pathMissing.String() {
		place += time.Second // we gave it back: everybody else first
	}
	if p == pathReleased && ahead == 0 && !m.eligiblePeer(r.Successor) {
		// Nobody of the old roster is left, as after a power cut.
		return place + m.random(20*time.Millisecond, 300*time.Millisecond)
	}
	return place + m.random(200*time.Millisecond, time.Second)
}

func (m *Machine) random(from, to time.Duration) time.Duration {
	return from + time.Duration(m.rng.Int64N(int64(to-from)))
}

// take begins the create of head+1.
func (m *Machine) take(p path) {
	c := &m.chain
	rev := c.head.rev + 1
	if rev > lease.MaxRev {
		return
	}
	if m.taking.rev != rev {
		m.taking.tenures++
		m.taking.rev = rev
	}
	r := m.record(rev, m.nextEpoch(rev), lease.Held, p.String())
	r.Roster = m.takersRoster(p)
	m.taking.next = m.now + m.retryPause(rev)
	if a := m.stage(r, m.taking.tenures); a != nil {
		m.send(a)
	}
}

// takersRoster is the first roster without the holder that has just fallen
// silent: gossip may still take it for alive, and it would not vouch.
func (m *Machine) takersRoster(p path) []lease.ID {
	roster := m.firstRoster()
	if p != pathRoster && p != pathTTL {
		return roster
	}
	kept := roster[:0]
	for _, id := range roster {
		if id != m.chain.head.entry.Record.Owner {
			kept = append(kept, id)
		}
	}
	return kept
}

// retryPause grows from BEAT to POLL with every attempt at the same rev whose
// outcome is open, and forgets all but the first and the newest of them.
func (m *Machine) retryPause(rev uint64) time.Duration {
	open := m.attempts.thin(m.chain.share, rev)
	return min(m.cfg.Beat<<min(open, 8), max(m.cfg.Beat, m.cfg.Poll))
}

// found begins to move a new chain into place. Its genesis is a released
// record, so that all members see the same head and race for the next one.
func (m *Machine) found() {
	c := &m.chain
	last := max(c.known.rev, c.head.rev)
	k := c.known
	for _, p := range m.peers.rows {
		last = max(last, p.Rev)
		k.epoch = max(k.epoch, p.Epoch)
	}
	rev := last + 1
	r := m.record(rev, k.nextEpoch(rev)-1, lease.Released, pathMissing.String())
	r.Share = m.cfg.NewShare()
	body, err := m.cfg.Sealer.Seal(r)
	if err != nil {
		m.say(true, reason.Reason{Code: reason.GenesisRefused, Detail: err.Error()})
		m.taking.next = m.now + m.cfg.Poll
		return
	}
	o := m.nextOp(rev)
	o.found = true
	m.creating = o
	// Whatever comes of it, who founds waits for POLL: by then the others have
	// seen the chain, so that it cannot be led and wiped behind their backs.
	m.taking.next = m.now + m.cfg.Poll
	m.say(true, reason.Reason{Code: reason.ChainFounding, Share: r.Share, Rev: rev})
	m.emit(Found{Op: o.id, Share: r.Share, Rev: rev, Genesis: body})
}

func (m *Machine) founded(ev Founded) {
	if ev.Op != m.creating.id {
		return
	}
	m.creating = op{}
	m.taking.want = true
	m.chain.listed = false
	if ev.Outcome != Unavailable && ev.Outcome != Denied {
		m.chain.missing = false // there is one now, or may be: ours or somebody else's
	}
	if ev.Outcome == Denied {
		m.denied()
	}
}
