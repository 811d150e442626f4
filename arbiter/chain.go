package arbiter

import (
	"slices"
	"strconv"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// plausibleStep is how far above the newest readable record a revision that
// cannot be verified is still believed to exist.
const plausibleStep = 1000

// plausibleMost is the highest rev that counts without being verified, whatever lies
// beside it: half of the numbers are kept in reserve, so that no file uses them up.
const plausibleMost = lease.MaxRev / 2

// known is the newest readable record ever heard of, in any chain (rule 11).
type known struct{ rev, epoch uint64 }

// chainView is what this member knows of the chain on the share.
type chainView struct {
	share string // share id followed; empty until a listing showed one
	head  head
	known known
	local known // the same, in the chain followed

	okAt        time.Duration // last answer of the share of any kind
	answered    bool          // okAt is meaningful
	listedAt    time.Duration // begin of the newest listing that showed nothing above head
	listedOnce  bool
	shownTop    uint64        // highest rev the share itself has shown
	missing     bool          // the share answered: no chain here
	missingFrom time.Duration // since when, without a break
	missingAt   time.Duration // newest listing that showed so
	listTry     time.Duration // begin of the newest listing, whatever came of it
	listed      bool          // listTry is meaningful
	lookedAt    time.Duration // begin of the newest read of a body
	headRead    bool          // the newest body read was the head's: head+1 is next
	doubtful    []uint64      // implausible revs still to be read, highest first
	doubtAll    []uint64      // the listing they belong to
	doubtBegun  time.Duration
	ignored     []uint64 // revs last said to be ignored

	refused  bool          // the last listing was denied
	denied   bool          // the last create outside a tenure was denied
	deniedAt time.Duration // when

	namedRev   uint64        // highest rev that live members named of a chain missing here
	unseenRev  uint64        // a rev we were beaten with and the share has not shown
	unseenFrom time.Duration // since when
	unseenAt   time.Duration // when we were last beaten with such a rev

	dug        uint64 // lowest rev read so far in search of a readable record below the head
	superseded []aged // revs the share has shown below a higher one, ascending
}

// head is the highest rev known to exist in the chain.
type head struct {
	rev   uint64
	seen  time.Duration // when this run first observed it
	entry lease.Entry
	own   bool // created by this run, as far as this run knows
}

// aged is a superseded rev and when a listing first showed it so.
type aged struct {
	rev  uint64
	from time.Duration
}

func (h head) valid() bool { return h.entry.Kind == lease.Valid }

// held returns the head's record if it is readable and held.
func (h head) held() (lease.Record, bool) {
	return h.entry.Record, h.valid() && h.entry.Record.State == lease.Held
}

// listed takes in what a listing showed.
func (m *Machine) listed(ev Listed) {
	if ev.Op != m.reading.id {
		return
	}
	begun := m.reading.begun
	m.reading = op{}
	if ev.Outcome == Denied {
		m.chain.refused = true
	}
	if ev.Outcome != OK {
		return
	}
	m.answer()
	m.chain.refused = false
	c := &m.chain
	if ev.Share == "" || len(ev.Revs) == 0 {
		// A chain may have come and gone while nobody answered.
		if !c.missing || m.now-c.missingAt > m.patience() {
			c.missing, c.missingFrom, c.namedRev = true, m.now, c.known.rev
		}
		c.missingAt = m.now
		return
	}
	c.missing = false
	if ev.Share != c.share && !m.follow(ev.Share) {
		return
	}
	m.weigh(begun, ev.Revs)
}

// follow switches to another chain; a holder stays with its own until its
// tenure ends. It reports whether the chain is followed now.
func (m *Machine) follow(share string) bool {
	if m.tenure != nil {
		return false
	}
	if m.chain.share != "" {
		m.say(true, reason.Reason{Code: reason.ChainReplaced, Share: share, OwnShare: m.chain.share})
	}
	c := &m.chain
	*c = chainView{share: share, known: c.known, okAt: c.okAt, answered: c.answered, lookedAt: c.lookedAt, listTry: c.listTry, listed: c.listed}
	m.taking.want = false
	m.attempts.dropOtherChains(m.chain.share, m.creating.id)
	return true
}

// weigh sorts out which of the listed revs are believed. A rev far above the
// newest readable record is believed only once it has been read: a stray file
// named 9999999999 must not end the chain, nor a stray 1 hide it.
func (m *Machine) weigh(begun time.Duration, revs []uint64) {
	c := &m.chain
	base := c.head.rev
	c.doubtful, c.doubtAll, c.doubtBegun = c.doubtful[:0], nil, begun
	for i := len(revs) - 1; i >= 0 && revs[i] > base+plausibleStep; i-- {
		c.doubtful = append(c.doubtful, revs[i])
	}
	if base == 0 && len(c.doubtful) > 0 {
		// A run that knows no record yet measures from the newest that it can
		// verify, as the others do: it reads down until it finds one.
		for i := len(revs) - 1 - len(c.doubtful); i >= 0; i-- {
			c.doubtful = append(c.doubtful, revs[i])
		}
	}
	if len(c.doubtful) > 0 {
		c.doubtAll = append([]uint64(nil), revs...)
		return
	}
	c.ignored = nil
	m.believe(begun, revs)
}

// doubtResolved goes on with a listing whose implausible revs are being read.
// e is the body of the first of them.
func (m *Machine) doubtResolved(e lease.Entry, gone bool) {
	c := &m.chain
	if len(c.doubtful) == 0 || e.Rev != c.doubtful[0] {
		return
	}
	c.doubtful = c.doubtful[1:]
	revs := c.doubtAll
	if !gone && e.Kind == lease.Valid {
		revs = m.ignore(revs, e.Rev)
	} else {
		if len(c.doubtful) > 0 {
			return
		}
		// A chain that went on without us has many records, one after the other;
		// what is ignored stands alone.
		switch base := c.head.rev; {
		case base > 0 && !consecutive(revs, base+plausibleStep):
			revs = m.ignore(revs, base)
		case revs[len(revs)-1] > plausibleMost:
			revs = m.ignore(revs, plausibleMost-plausibleStep)
		}
	}
	c.doubtful, c.doubtAll = nil, nil
	if len(revs) > 0 {
		m.believe(c.doubtBegun, revs)
	}
}

// ignore returns the revs that are plausible above base, and says once which
// are not.
func (m *Machine) ignore(revs []uint64, base uint64) []uint64 {
	n := len(revs)
	for n > 0 && revs[n-1] > base+plausibleStep {
		n--
	}
	if strays := revs[n:]; len(strays) > 0 && !slices.Equal(strays, m.chain.ignored) {
		m.chain.ignored = slices.Clone(strays)
		top := strays[len(strays)-1]
		m.say(true, reason.Reason{Code: reason.RecordIgnored, Rev: top, Of: plausibleStep, Found: strconv.FormatUint(base, 10), Path: lease.RecordName(m.chain.share, top)})
	}
	return revs[:n]
}

// consecutive reports whether two neighbouring revs between floor and plausibleMost
// are listed.
func consecutive(revs []uint64, floor uint64) bool {
	for i := len(revs) - 1; i > 0 && revs[i-1] > floor; i-- {
		if revs[i] == revs[i-1]+1 && revs[i] <= plausibleMost {
			return true
		}
	}
	return false
}

// believe takes in a listing all of whose revs exist.
func (m *Machine) believe(begun time.Duration, revs []uint64) {
	c := &m.chain
	top := revs[len(revs)-1]
	m.age(revs)
	m.shown(top)
	m.observe(lease.Entry{Rev: top})
	if top <= c.head.rev {
		c.listedAt, c.listedOnce = max(c.listedAt, begun), true
	}
}

// age keeps when each rev was first listed as superseded (rule 9).
func (m *Machine) age(revs []uint64) {
	old := m.chain.superseded
	next := make([]aged, 0, len(revs))
	for _, rev := range revs[:len(revs)-1] {
		for len(old) > 0 && old[0].rev < rev {
			old = old[1:]
		}
		if len(old) > 0 && old[0].rev == rev {
			next = append(next, old[0])
			continue
		}
		next = append(next, aged{rev: rev, from: m.now})
	}
	m.chain.superseded = next
}

// shown notes that the share itself has shown a rev, which is what proves that
// it is the share the others use.
func (m *Machine) shown(rev uint64) {
	c := &m.chain
	c.shownTop = max(c.shownTop, rev)
	if c.unseenRev <= c.shownTop {
		c.unseenRev = 0
	}
}

// answer notes that the share has answered.
func (m *Machine) answer() { m.chain.okAt, m.chain.answered = m.now, true }

// readDone takes in a body, or its absence.
func (m *Machine) readDone(ev ReadDone) {
	if ev.Op != m.reading.id {
		return
	}
	rev := m.reading.rev
	m.reading = op{}
	switch ev.Outcome {
	case OK:
		m.answer()
		ev.Entry.Rev = rev
		if len(m.chain.doubtful) > 0 && m.chain.doubtful[0] == rev {
			m.doubtResolved(ev.Entry, false)
			if ev.Entry.Kind != lease.Valid {
				return
			}
		}
		m.shown(rev)
		m.dig(rev)
		m.observe(ev.Entry)
	case NotExist:
		m.answer()
		m.dig(rev)
		m.doubtResolved(lease.Entry{Rev: rev}, true)
	case Denied: // it answered, and this one will stay unreadable
		m.answer()
		m.dig(rev)
		m.doubtResolved(lease.Entry{Rev: rev, Kind: lease.Unknown}, false)
	default: // nothing can be said of the listing that raised the doubt
		m.chain.doubtful, m.chain.doubtAll = nil, nil
	}
}

// observe takes in that a rev of the followed chain exists and perhaps what it
// says. It is the only place where the head moves.
func (m *Machine) observe(e lease.Entry) {
	if e.Kind == lease.Valid {
		m.remember(e.Record)
	}
	c := &m.chain
	switch {
	case e.Rev > c.head.rev:
		if m.tenure != nil && !m.holderSees(e) {
			return
		}
		if m.tenure == nil || e.Rev > c.head.rev {
			m.moveHead(e)
		}
	case e.Rev == c.head.rev && e.Kind != lease.Unread && c.head.entry.Kind != lease.Valid:
		if m.tenure != nil && e.Rev > m.tenure.tip && !m.holderSees(e) {
			return
		}
		c.head.entry = e
		c.head.own = c.head.own || e.Kind == lease.Valid && m.me(e.Record.Owner)
		m.adoptTaking(e)
	}
}

// moveHead makes e the head, first observed now.
func (m *Machine) moveHead(e lease.Entry) {
	m.chain.head = head{
		rev: e.Rev, seen: m.now, entry: e,
		own: e.Kind == lease.Valid && m.me(e.Record.Owner),
	}
	m.chain.dug = e.Rev
	m.dropSettled()
	m.adoptTaking(e)
}

// remember raises the newest readable record known.
func (m *Machine) remember(r lease.Record) {
	m.chain.known.raise(r.Rev, r.Epoch)
	if r.Share == m.chain.share {
		m.chain.local.raise(r.Rev, r.Epoch)
	}
	m.peers.noteFailure(m.now, r)
}

func (k *known) raise(rev, epoch uint64) {
	k.rev, k.epoch = max(k.rev, rev), max(k.epoch, epoch)
}

// patience is how long the pause between two listings may be for them to count
// as one unbroken observation.
func (m *Machine) patience() time.Duration { return 2*m.cfg.Poll + time.Second }

// digFor returns the rev to read next in search of the newest readable record
// below a head that cannot be read, or 0: without it the epoch of a takeover
// would be reckoned from an older one than another member may know.
func (m *Machine) digFor() uint64 {
	c := &m.chain
	if c.head.valid() {
		return 0
	}
	for i := len(c.superseded) - 1; i >= 0 && c.superseded[i].rev > c.local.rev; i-- {
		if rev := c.superseded[i].rev; rev < c.dug {
			return rev
		}
	}
	return 0
}

// dig notes that a rev below the head was looked at.
func (m *Machine) dig(rev uint64) {
	if c := &m.chain; rev < c.dug {
		c.dug = rev
	}
}

// nextEpoch is rule 11: never repeated, never falling, even over records that
// nobody can read.
func (k known) nextEpoch(rev uint64) uint64 {
	if rev > k.rev {
		return k.epoch + (rev - k.rev)
	}
	return k.epoch + 1
}

// nextEpoch reckons from the newest readable record of this chain, and never
// falls below what is known from anywhere.
func (m *Machine) nextEpoch(rev uint64) uint64 {
	e := m.chain.known.nextEpoch(rev)
	if m.chain.local.rev != 0 {
		e = max(e, m.chain.local.nextEpoch(rev))
	}
	return e
}
