package arbiter

import (
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// The crash policy: three failures without a long life between them hand the lease
// over, whatever the pauses, and so does a minute of trying in which the relay never
// became ready; the pause before leading again doubles up to ten minutes.
const (
	// longLife is how long a relay runs that has lived down what was before.
	longLife     = 60 * time.Second
	vainLimit    = 60 * time.Second // without a relay that was ever ready
	crashLimit   = 3
	coolDownMin  = 60 * time.Second
	coolDownMax  = 10 * time.Minute
	restartDelay = time.Second
	// Below TTL_MAX, so that a relay that works again is back as soon as after any
	// other fault.
	restartMax = 15 * time.Second
	// For how long a PC is no good successor after its relay has failed: while it
	// might rest, and then as long again.
	failureCounts = 2 * coolDownMax
)

// relayFailed is the reason of a release for want of a relay.
const relayFailed = "relay-failed"

// crashes is the memory of relay failures of this run.
type crashes struct {
	count    int           // failures since a long life
	last     time.Duration // the newest of them
	trying   time.Duration // first start of this tenure since a relay was ready; zero if none
	next     time.Duration // no restart before
	backoff  time.Duration
	coolDown time.Duration // length of the last pause
	until    time.Duration // ineligible until, unless nobody else is eligible
	note     string
}

// tries notes a start of the relay.
func (c *crashes) tries(now time.Duration, firstOfTenure bool) {
	if c.trying == 0 || firstOfTenure {
		c.trying = now
	}
}

// failed notes a failure after the relay had been up for so long, and reports
// whether it was one too many. A relay that takes RELAY_START_TIMEOUT to fail
// would take three times as long: what counts then is how long the site has gone
// without. Failures that lie failureCounts back are forgotten.
func (c *crashes) failed(now, up time.Duration, note string) bool {
	c.note = note
	c.lived(up)
	if now-c.last > failureCounts {
		c.count = 0
	}
	c.count++
	c.last = now
	c.next = now + c.backoff // the first restart is at once
	c.backoff = min(max(2*c.backoff, restartDelay), restartMax)
	return c.count >= crashLimit || c.inVain(now)
}

// lived clears the failures before a long life, however that ended.
func (c *crashes) lived(up time.Duration) {
	if up >= longLife {
		c.count, c.backoff, c.coolDown = 0, 0, 0
	}
}

// inVain reports whether vainLimit has gone without a relay that was ready.
func (c *crashes) inVain(now time.Duration) bool {
	return c.trying != 0 && now-c.trying >= vainLimit
}

// rest begins a pause in which this member does not lead.
func (c *crashes) rest(now time.Duration) {
	c.coolDown = min(max(2*c.coolDown, coolDownMin), coolDownMax)
	c.until = now + c.coolDown
	c.count, c.backoff, c.next, c.trying = 0, 0, 0, 0
}

// resting is why a member pauses after the last failure, which has no note if the
// guard ended a relay that was not ready before its deadline.
func (c *crashes) resting() reason.Reason {
	if c.note == "" {
		return reason.Reason{Code: reason.RelayLate}
	}
	return reason.Reason{Code: reason.RelayResting, Detail: c.note}
}

// what says which failure was one too many.
func (c *crashes) what(now time.Duration) reason.Reason {
	if c.count < crashLimit {
		return reason.Reason{Code: reason.RelayUnready}.For(now - c.trying)
	}
	return reason.Reason{Code: reason.RelayCrashes, Count: c.count}.For(longLife)
}

func (m *Machine) relayCrashed(ev RelayDown, up time.Duration) {
	over := m.crashes.failed(m.now, up, ev.Note)
	m.say(true, reason.Reason{Code: reason.RelayEnded, How: ev.Cause.String(), Detail: ev.Note})
	if !over || !m.othersEligible() {
		return
	}
	what := m.crashes.what(m.now)
	m.crashes.rest(m.now)
	m.beginEnding(Handoff{Reason: relayFailed})
	what.Of = int(m.crashes.coolDown / time.Second)
	m.say(true, what)
}

// noteFailure remembers on which PCs the relay has failed, as far as records
// tell.
func (p *peers) noteFailure(now time.Duration, r lease.Record) {
	if r.State != lease.Released || r.Reason != relayFailed {
		return
	}
	if p.failed == nil {
		p.failed = map[string]time.Duration{}
	}
	p.failed[r.Owner.Node] = now
}

// failedLately returns when the relay of a PC failed, or zero if that is long
// ago or unknown. Without it two PCs without a working relay would pass the lease
// back and forth beside a third that has one: whoever has rested is eligible.
func (m *Machine) failedLately(id lease.ID) time.Duration {
	at, ok := m.peers.failed[id.Node]
	if !ok || m.now-at > failureCounts {
		return 0
	}
	return at
}
