package arbiter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

const never = time.Duration(math.MaxInt64)

// op is an operation on the share that is under way; the zero value is an idle
// lane (rule 9).
type op struct {
	id    OpID
	begun time.Duration
	rev   uint64
	list  bool // read lane: a listing, not a body
	found bool // create lane: a new chain, not a record
}

func (o op) busy() bool { return o.id != 0 }

// Machine is the decision of one member. It is not safe for concurrent use: one
// goroutine owns it.
type Machine struct {
	cfg Config
	rng *rand.Rand

	now  time.Duration
	wake time.Duration
	out  []Action

	lastOp                                  OpID
	creating, reading, publishing, sweeping op

	chain    chainView
	attempts attempts
	taking   taking
	tenure   *tenure // not nil while this run holds the lease
	relay    relay
	peers    peers
	crashes  crashes
	stop     Handoff // the final handoff asked for, if Final
	finished bool

	outside []reason.Reason // the outside world's
	watched lease.ID
	told    Report // last reported state, to report changes only

	createTook time.Duration // duration of the last acknowledged renewal
	shownView  published
	sweptAt    time.Duration
	sweptTo    uint64 // highest rev of the last round of housekeeping
	sweepFails bool
}

// New returns the machine of a daemon that has just started. It refuses figures
// that would make the protocol unsafe.
func New(cfg Config) (*Machine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := &Machine{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x666c6f6174))}
	m.chain.known = known{rev: cfg.FloorRev, epoch: cfg.FloorEpoch}
	return m, nil
}

// Step tells the machine that ev happened at now (boot time) and returns what to
// do about it, in order. The slice is valid until the next Step.
func (m *Machine) Step(now time.Duration, ev Event) []Action {
	m.now = max(m.now, now)
	m.out = m.out[:0]
	m.expire() // rule 2: expired is final, and nothing is looked at before
	m.apply(ev)
	m.advance()
	return m.out
}

// Wake returns the boot time at which the machine wants a Tick if nothing else
// happens before.
func (m *Machine) Wake() time.Duration { return m.wake }

func (m *Machine) apply(ev Event) {
	switch ev := ev.(type) {
	case Tick:
	case Listed:
		m.listed(ev)
	case ReadDone:
		m.readDone(ev)
	case Created:
		m.created(ev)
	case Founded:
		m.founded(ev)
	case Published:
		m.published(ev)
	case Housekept:
		m.housekept(ev)
	case BeatReceived:
		m.beatReceived(ev)
	case VouchReceived:
		m.vouchReceived(ev)
	case HeadReceived:
		m.headReceived(ev)
	case LeaderGone:
		m.leaderGone(ev)
	case MembersChanged:
		m.heardOfChain()
		m.heardOfLeader()
		m.peers.set(m.now, m.cfg.Self, ev.Members)
		m.heardOfChain()
	case GuardAcked:
		m.guardAcked(ev)
	case RelayReady:
		m.relayReady(ev)
	case RelayDown:
		m.relayDown(ev)
	case TreeClear:
		m.relay.clear = true
	case Eligibility:
		m.outside = ev.Reasons
	case Known:
		m.chain.known.raise(ev.Rev, ev.Epoch)
	case Moved:
		m.moved(ev.IP)
	case Handoff:
		m.askedToLeave(ev)
	default:
		panic(fmt.Sprintf("arbiter: unknown event %T", ev))
	}
}

// moved takes in a new address; a leader confirms it with a record at once.
func (m *Machine) moved(ip string) {
	if ip == m.cfg.IP {
		return
	}
	m.say(true, reason.Reason{Code: reason.AddressChanged, OwnAddr: m.cfg.IP, Addr: ip})
	m.cfg.IP = ip
	if m.tenure != nil {
		m.tenure.confirm = m.now
	}
}

// advance does every duty that is due. Each is idempotent and registers, with
// wakeAt, when it wants to be asked again.
func (m *Machine) advance() {
	m.wake = never
	m.checkShareOrder()
	m.runTenure()
	m.takeOver()
	m.readShare()
	m.housekeep()
	m.watch()
	m.report()
}

// wakeAt asks for a Tick at t at the latest.
func (m *Machine) wakeAt(t time.Duration) {
	m.wake = min(m.wake, max(t, m.now+time.Millisecond))
}

func (m *Machine) emit(a Action) { m.out = append(m.out, a) }

func (m *Machine) nextOp(rev uint64) op {
	m.lastOp++
	return op{id: m.lastOp, begun: m.now, rev: rev}
}

// me reports whether id is this very run.
func (m *Machine) me(id lease.ID) bool {
	return id == m.cfg.Self
}
