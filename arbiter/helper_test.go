package arbiter

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

const (
	ms    = time.Millisecond
	sec   = time.Second
	share = "5" // share id of the chain in most tests
	site  = "4711"
	tick  = ms // granularity of "one tick before"
)

// The members of the test station; A is the machine under test. Node ids sort
// like the letters.
var (
	idA = lease.ID{Node: "node-a", Run: "a1"}
	idB = lease.ID{Node: "node-b", Run: "b1"}
	idC = lease.ID{Node: "node-c", Run: "c1"}
	idD = lease.ID{Node: "node-d", Run: "d1"}
)

// byLetter names members in scripts and messages.
var byLetter = map[string]lease.ID{"A": idA, "B": idB, "C": idC, "D": idD}

// letter is the inverse of byLetter; whoever has no letter keeps its id.
func letter(id lease.ID) string {
	if id.IsZero() {
		return "-"
	}
	for name, x := range byLetter {
		if x == id {
			return name
		}
	}
	return id.String()
}

// testCodec is the production codec with a wall clock that stands still.
func testCodec(t testing.TB, kmsn, token string) *lease.Codec {
	t.Helper()
	c, err := lease.NewCodec(kmsn, token)
	require.NoError(t, err)
	c.Now = func() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC) }
	return c
}

// memo is a codec that opens each body once for all tests: they run thousands of
// stations, all with much the same records.
type memo struct{ *lease.Codec }

var opened sync.Map // what and where it was opened, to lease.Entry

type openedAs struct {
	share string
	rev   uint64
	body  string
}

func (c memo) Open(share string, rev uint64, body []byte) lease.Entry {
	key := openedAs{share, rev, string(body)}
	if e, ok := opened.Load(key); ok {
		return e.(lease.Entry)
	}
	e := c.Codec.Open(share, rev, body)
	opened.Store(key, e)
	return e
}

// testConfig is a member with the default figures.
func testConfig(t testing.TB, self lease.ID) Config {
	name := letter(self)
	return Config{
		Self: self, Boot: "boot-" + self.Node, KMSN: site, Station: "POS-" + name,
		IP: "192.168.1.10", Port: 9530, PID: 100, Priority: 100,
		TTL: 10 * sec, Renew: 3 * sec, Poll: 2 * sec, Fence: 1500 * ms, Beat: 250 * ms, Grace: 500 * ms,
		Seed: 1, Sealer: testCodec(t, site, "secret"), NewShare: func() string { return share },
	}
}

// seen is an action and when it was emitted.
type seen struct {
	at time.Duration
	a  Action
}

// rig is a machine under test with virtual time, an outside world that answers
// by itself as far as it is told to, and a checker that judges every step.
type rig struct {
	beatNum uint64 // of the last beat made by beats: they only grow
	t       testing.TB
	m       *Machine
	cfg     Config
	codec   memo
	checker *checker
	now     time.Duration

	// What the outside world does by itself, at once.
	lists    bool // answers List and Read from chain
	creates  bool // carries Create and Found out on chain
	views    bool // answers Publish and Housekeep
	guards   bool // acknowledges deadlines, confirms stops
	relays   bool // reports a started relay ready
	vouching []lease.ID

	share string            // share id on the share, "" for none
	chain map[uint64][]byte // bodies by rev

	all      []seen // every action so far
	creating Action // outstanding Create or Found, if any
	reading  Action // outstanding List or Read, if any
	beat     SendBeat
	gen, seq uint64
	until    time.Duration
}

// newRig returns a fresh member A at 100 s of boot time on an empty share folder.
func newRig(t testing.TB, opts ...func(*Config)) *rig {
	t.Helper()
	return newRigOf(t, idA, opts...)
}

func newRigOf(t testing.TB, self lease.ID, opts ...func(*Config)) *rig {
	t.Helper()
	cfg := testConfig(t, self)
	for _, o := range opts {
		o(&cfg)
	}
	m, err := New(cfg)
	require.NoError(t, err)
	r := &rig{
		t: t, m: m, cfg: cfg, codec: memo{testCodec(t, site, "secret")}, now: zero,
		lists: true, creates: true, views: true, guards: true, relays: true,
		chain: map[uint64][]byte{},
	}
	r.checker = newChecker(t, m, cfg, r.codec)
	return r
}

// do tells the machine an event now, lets the outside world answer, and returns
// all that the machine emitted meanwhile.
func (r *rig) do(ev Event) []Action {
	from := len(r.all)
	queue := []Event{ev}
	for n := 0; len(queue) > 0; n++ {
		if n > 2000 {
			r.t.Fatalf("at %v the machine and its world answer each other for ever: %s", r.now, describe(r.actions(len(r.all)-8)))
		}
		ev, queue = queue[0], queue[1:]
		out := append([]Action(nil), r.m.Step(r.now, ev)...)
		r.checker.step(r.now, ev, out)
		r.settle(ev)
		for _, a := range out {
			r.all = append(r.all, seen{r.now, a})
			queue = append(queue, r.answer(a)...)
		}
	}
	return r.actions(from)
}

// settle notes which lane an event frees.
func (r *rig) settle(ev Event) {
	switch ev.(type) {
	case Created, Founded:
		r.creating = nil
	case Listed, ReadDone:
		r.reading = nil
	}
}

// actions returns what was emitted from index from on.
func (r *rig) actions(from int) []Action {
	var out []Action
	for _, s := range r.all[max(from, 0):] {
		out = append(out, s.a)
	}
	return out
}

// answer is the outside world.
func (r *rig) answer(a Action) []Event {
	switch a := a.(type) {
	case List, Read:
		r.reading = a
		if r.lists {
			return []Event{r.look()}
		}
	case Create, Found:
		r.creating = a
		if r.creates {
			return []Event{r.carryOut()}
		}
	case Publish:
		if r.views {
			return []Event{Published{Op: a.Op}}
		}
	case Housekeep:
		if r.views {
			for _, rev := range a.Revs {
				delete(r.chain, rev)
			}
			return []Event{Housekept{Op: a.Op}}
		}
	case SendBeat:
		r.beat = a
		return r.vouches(a)
	case StartRelay:
		r.gen, r.seq, r.until = a.Gen, a.Seq, a.Until
		return r.started(a)
	case SetUntil:
		r.seq, r.until = a.Seq, a.Until
		if r.guards {
			return []Event{GuardAcked{Gen: a.Gen, Seq: a.Seq}}
		}
	case StopRelay:
		if r.guards {
			return []Event{RelayDown{Gen: a.Gen, Cause: DownStopped}}
		}
	}
	return nil
}

func (r *rig) started(a StartRelay) []Event {
	var evs []Event
	if r.guards {
		evs = append(evs, GuardAcked{Gen: a.Gen, Seq: a.Seq})
	}
	if r.relays {
		evs = append(evs, RelayReady{Gen: a.Gen, PID: 4000 + int(a.Gen)})
	}
	return evs
}

func (r *rig) vouches(b SendBeat) []Event {
	var evs []Event
	for _, id := range r.vouching {
		if containsID(b.To, id) {
			evs = append(evs, VouchReceived{From: id, Run: r.cfg.Self.Run, Num: b.Num})
		}
	}
	return evs
}

// look answers the outstanding List or Read from the chain.
func (r *rig) look() Event {
	switch a := r.reading.(type) {
	case List:
		return Listed{Op: a.Op, Share: r.share, Revs: r.revs()}
	case Read:
		body, ok := r.chain[a.Rev]
		if !ok || a.Share != r.share {
			return ReadDone{Op: a.Op, Outcome: NotExist}
		}
		return ReadDone{Op: a.Op, Entry: r.codec.Open(a.Share, a.Rev, body)}
	}
	r.t.Fatalf("at %v nothing is being read", r.now)
	return nil
}

// carryOut does the outstanding Create or Found on the chain and returns its
// result.
func (r *rig) carryOut() Event {
	switch a := r.creating.(type) {
	case Create:
		switch _, taken := r.chain[a.Rev]; {
		case a.Share != r.share:
			return Created{Op: a.Op, Outcome: NotExist}
		case taken:
			return Created{Op: a.Op, Outcome: Exists}
		}
		r.chain[a.Rev] = a.Body
		return Created{Op: a.Op}
	case Found:
		if r.share != "" {
			return Founded{Op: a.Op, Outcome: Exists}
		}
		r.share, r.chain = a.Share, map[uint64][]byte{a.Rev: a.Genesis}
		return Founded{Op: a.Op}
	}
	r.t.Fatalf("at %v nothing is being created", r.now)
	return nil
}

func (r *rig) revs() []uint64 {
	var revs []uint64
	for rev := range r.chain {
		revs = append(revs, rev)
	}
	slices.Sort(revs)
	return revs
}

// created answers the outstanding create. OK also puts it on the chain, as the
// share would.
func (r *rig) created(out Outcome) []Action {
	r.t.Helper()
	c, ok := r.creating.(Create)
	require.True(r.t, ok, "at %v no create is outstanding", r.now)
	switch out {
	case OK:
		r.chain[c.Rev] = c.Body
	case NoBody:
		r.chain[c.Rev] = nil
	}
	return r.do(Created{Op: c.Op, Outcome: out})
}

// apply lets the outstanding create take effect on the share without telling
// the machine.
func (r *rig) apply() {
	c, ok := r.creating.(Create)
	require.True(r.t, ok, "at %v no create is outstanding", r.now)
	r.chain[c.Rev] = c.Body
}

// run lets time pass up to the given instant, with a Tick whenever the machine
// asked for one and one at the end.
func (r *rig) run(to time.Duration) []Action {
	from := len(r.all)
	if r.m.Wake() <= r.now {
		r.do(Tick{}) // as the driver does first of all
	}
	for r.now < to {
		next := min(r.m.Wake(), to)
		if next <= r.now {
			r.t.Fatalf("at %v the machine wants a tick at %v, which is not in the future", r.now, next)
		}
		r.now = next
		r.do(Tick{})
	}
	return r.actions(from)
}

// pass lets d pass.
func (r *rig) pass(d time.Duration) []Action { return r.run(r.now + d) }

// jump lets d pass without a single tick, as when the daemon is frozen.
func (r *rig) jump(d time.Duration) { r.now += d }

// entry builds a record of another member (or an earlier run) as a reader sees
// it.
func (r *rig) entry(rev, epoch uint64, owner lease.ID, opts ...func(*lease.Record)) lease.Entry {
	r.t.Helper()
	rec := lease.Record{
		Share: share, KMSN: site, Station: "POS-" + letter(owner), Rev: rev, Epoch: epoch, Owner: owner,
		Boot: "boot-" + owner.Node, State: lease.Held, Reason: "renew", IP: "192.168.1.20", Port: 9530,
		TTL: 10 * sec, Fence: 1500 * ms,
	}
	for _, o := range opts {
		o(&rec)
	}
	if !strings.HasPrefix(owner.Node, "node-") || byLetter[letter(owner)] != owner {
		rec.Station = "POS-X"
	}
	body, err := r.codec.Seal(rec)
	require.NoError(r.t, err)
	return r.codec.Open(rec.Share, rev, body)
}

// Options of entry.
func roster(ids ...lease.ID) func(*lease.Record) {
	return func(r *lease.Record) { r.Roster = ids }
}

func released(to lease.ID) func(*lease.Record) {
	return func(r *lease.Record) { r.State, r.Successor, r.Reason = lease.Released, to, "handoff" }
}

func figures(ttl, fence time.Duration) func(*lease.Record) {
	return func(r *lease.Record) { r.TTL, r.Fence = ttl, fence }
}

func onShare(id string) func(*lease.Record) {
	return func(r *lease.Record) { r.Share = id }
}

// put lays a record on the share.
func (r *rig) put(e lease.Entry) {
	r.share = share
	r.chain[e.Rev] = e.Body
}

// hear delivers a beat of the record's owner.
func (r *rig) hear(e lease.Entry, num uint64) []Action {
	return r.do(BeatReceived{From: e.Record.Owner, Num: num, Entry: e})
}

// alive is an eligible member as gossip shows it.
func alive(id lease.ID) Member {
	return Member{ID: id, Station: "POS-" + letter(id), Addr: "192.168.1.2:7946", Alive: true, Eligible: true, Priority: 100, Share: share}
}

func (r *rig) members(rows ...Member) []Action { return r.do(MembersChanged{Members: rows}) }

// aliveAll is MembersChanged with eligible members only.
func (r *rig) aliveAll(ids ...lease.ID) []Action {
	var rows []Member
	for _, id := range ids {
		rows = append(rows, alive(id))
	}
	return r.members(rows...)
}

// follower brings the machine to follow the given head, observed now.
func follower(t testing.TB, head func(r *rig) lease.Entry, opts ...func(*Config)) *rig {
	t.Helper()
	r := newRig(t, opts...)
	r.do(TreeClear{})
	r.put(head(r))
	r.run(r.now + r.cfg.Poll + 10*ms)
	require.NotEqual(t, lease.Unread, r.m.Status().Head.Kind)
	return r
}

// leader brings the machine to lead with a ready relay and these members alive
// and vouching.
func leader(t testing.TB, with ...lease.ID) *rig {
	t.Helper()
	return leaderOf(t, nil, with...)
}

func leaderOf(t testing.TB, opt func(*Config), with ...lease.ID) *rig {
	t.Helper()
	if opt == nil {
		opt = func(*Config) {}
	}
	r := newRig(t, opt)
	r.vouching = with
	r.aliveAll(with...)
	r.put(r.entry(6, 3, idD, released(idA)))
	r.do(TreeClear{})
	r.pass(3 * sec)
	require.Equal(t, Leader, r.m.Status().Role, "set-up: not leading")
	require.Equal(t, RelayRunning, r.m.Status().Relay, "set-up: the relay does not run")
	return r
}

// of returns the actions of one type.
func of[T Action](acts []Action) []T {
	var out []T
	for _, a := range acts {
		if x, ok := a.(T); ok {
			out = append(out, x)
		}
	}
	return out
}

// one requires exactly one action of a type and returns it.
func one[T Action](t testing.TB, acts []Action) T {
	t.Helper()
	got := of[T](acts)
	var zero T
	require.Len(t, got, 1, "want one %T in: %s", zero, describe(acts))
	return got[0]
}

// none requires that no action of a type was emitted.
func none[T Action](t testing.TB, acts []Action) {
	t.Helper()
	var zero T
	require.Empty(t, of[T](acts), "want no %T in: %s", zero, describe(acts))
}

// opened returns the record a create, beat or head carries.
func (r *rig) opened(body []byte) lease.Record {
	r.t.Helper()
	e := r.codec.Open("", 0, body)
	require.Equal(r.t, lease.Valid, e.Kind, e.Cause)
	return e.Record
}

// reports joins what was said to people.
func reports(acts []Action) string {
	var b strings.Builder
	for _, x := range of[Report](acts) {
		b.WriteString(reportText(x) + "\n")
	}
	return b.String()
}

// describe lists the last actions for a failure message.
func describe(acts []Action) string {
	codec, err := lease.NewCodec(site, "secret")
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, a := range acts[max(len(acts)-15, 0):] {
		b.WriteString("\n  " + brief(memo{codec}, a))
	}
	return b.String()
}

// reportText is a report with its code and facts.
func reportText(r Report) string {
	text := r.Reason.String()
	for _, x := range r.Because {
		text += " (" + x.String() + ")"
	}
	return text
}
