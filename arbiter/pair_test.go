package arbiter

import (
	"testing"
	"time"
)

// pair is two machines, A and B, on one share and one faultless network.
type pair struct {
	t        testing.TB
	rigs     []*rig
	lifetime map[string]time.Duration // how long a relay of that PC lives; 0: for ever
	dies     map[*rig]death
	starts   int
	tenures  int
	epochs   map[uint64]bool
	leaders  []string // changes of the PC that runs the relay
	done     []int    // actions of each rig already delivered
}

type death struct {
	at  time.Duration
	gen uint64
}

func newPair(t testing.TB) *pair {
	a, b := newRigOf(t, idA), newRigOf(t, idB, func(c *Config) { c.Seed = 2 })
	b.chain = a.chain
	a.share, b.share = share, share
	p := &pair{t: t, rigs: []*rig{a, b}, dies: map[*rig]death{}, epochs: map[uint64]bool{}, done: make([]int, 2)}
	a.put(a.entry(6, 3, idD, released(idA)))
	for _, r := range p.rigs {
		r.do(TreeClear{})
	}
	return p
}

// run lets d pass for both.
func (p *pair) run(d time.Duration) {
	for end := p.rigs[0].now + d; p.rigs[0].now < end; {
		next := min(p.rigs[0].m.Wake(), p.rigs[1].m.Wake(), end)
		for _, x := range p.dies {
			next = min(next, x.at)
		}
		for _, r := range p.rigs {
			r.now = max(r.now, next)
			p.crashDue(r)
			r.do(Tick{})
		}
		p.deliver()
		p.check()
	}
}

func (p *pair) crashDue(r *rig) {
	if x, ok := p.dies[r]; ok && r.now >= x.at {
		delete(p.dies, r)
		cause := DownExited
		if !r.relays {
			cause = DownUnready
		}
		r.do(RelayDown{Gen: x.gen, Cause: cause, Note: "exit 1"})
	}
}

// deliver carries messages and member rows across until all is quiet.
func (p *pair) deliver() {
	for busy := true; busy; {
		busy = false
		for i, r := range p.rigs {
			from := p.done[i]
			p.done[i] = len(r.all)
			for _, s := range r.all[from:] {
				busy = p.effect(r, p.rigs[1-i], s) || busy
			}
		}
	}
	for i, r := range p.rigs {
		r.all, p.done[i] = r.all[:0], 0
		s := r.m.Status()
		row := alive(r.cfg.Self)
		row.Eligible, row.Share, row.Rev, row.Epoch = s.Eligible, s.Share, s.Rev, s.Epoch
		p.rigs[1-i].aliveRow(row)
	}
}

// neverReady makes the relays of a PC give up after timeout, unready.
func (p *pair) neverReady(pc int, timeout time.Duration) {
	r := p.rigs[pc]
	r.relays = false
	if p.lifetime == nil {
		p.lifetime = map[string]time.Duration{}
	}
	p.lifetime[letter(r.cfg.Self)] = timeout
}

func (r *rig) aliveRow(row Member) { r.do(MembersChanged{Members: []Member{row}}) }

// effect is what an action of one does to the other; it reports whether it was
// a message.
func (p *pair) effect(from, to *rig, s seen) bool {
	switch a := s.a.(type) {
	case SendBeat:
		to.do(BeatReceived{From: from.cfg.Self, Num: a.Num, Entry: to.codec.Open("", 0, a.Body)})
	case SendVouch:
		to.do(VouchReceived{From: from.cfg.Self, Run: a.To.Run, Num: a.Num})
	case SendHead:
		to.do(HeadReceived{From: from.cfg.Self, Entry: to.codec.Open("", 0, a.Body)})
	case StartRelay:
		p.started(from, a, s.at)
		return false
	default:
		return false
	}
	return true
}

func (p *pair) started(r *rig, a StartRelay, at time.Duration) {
	p.starts++
	if !p.epochs[a.Epoch] {
		p.epochs[a.Epoch] = true
		p.tenures++
	}
	name := letter(r.cfg.Self)
	if n := len(p.leaders); n == 0 || p.leaders[n-1] != name {
		p.leaders = append(p.leaders, name)
	}
	if life := p.lifetime[name]; life > 0 {
		p.dies[r] = death{at + life, a.Gen}
	}
}

// check is the promise: never two.
func (p *pair) check() {
	alive := 0
	for _, r := range p.rigs {
		if r.checker.tree.alive {
			alive++
		}
	}
	if alive > 1 {
		p.t.Fatalf("at %v two relays run", p.rigs[0].now)
	}
}
