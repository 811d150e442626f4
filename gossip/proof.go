package gossip

import (
	"context"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/lease"
)

// What memberlist says of a run may be months old: whoever captured packets of
// an earlier run can send them again without knowing the token. So a run that
// comes, or comes back, is only claimed to be alive. It is asked with a fresh
// random number, and counts as alive once that very run has answered. The
// question is a probe sent "again", which every release answers by one packet;
// where no packets pass, the handshake of the watch connection proves the same,
// whichever of the two PCs can connect to the other.
//
// A run that counts is asked anew from time to time: replayed acks keep
// memberlist from noticing that it died.
const (
	// askFirst is the pause before a question is sent again; it doubles up to
	// askMax.
	askFirst = 50 * time.Millisecond
	askMax   = 5 * time.Second
	// shakeAfter unanswered packets a connection is tried as well.
	shakeAfter = 3
	// shakesAtOnce bounds these connections.
	shakesAtOnce = 4
	// proofPatience is how long a run that counts may leave a question
	// unanswered: seven packets and three connections.
	proofPatience = 6 * time.Second
	// proofLeast and proofEach say how often a run that counts is asked: at a
	// large site once per second all together.
	proofLeast = 10 * time.Second
	proofEach  = time.Second
	// proofUrgent is the same for a run that could make this member step down:
	// one with another share, or another run of this node.
	proofUrgent = 2 * time.Second
)

// proof is what this member knows of a run at first hand.
type proof struct {
	q     string    // the question under way, or empty
	begun time.Time // of the question
	tries int
	next  time.Time // when to send it again; without one, when to ask anew
}

// question is one packet to send.
type question struct {
	to  lease.ID
	q   string
	try int // 0 is the first
}

// claim notes that memberlist believes in a run that did not count until now.
// The lock is held.
func (t *table) claim(r *Row) {
	if !r.claimed {
		r.claimed = true
		t.proofs[r.ID.String()] = &proof{}
		t.claimed()
	}
}

// deny forgets what was asked of a run that memberlist gave up. The lock is held.
func (t *table) deny(r *Row) {
	r.claimed = false
	delete(t.proofs, r.ID.String())
}

// answered takes an answer in and reports whether it was one to the question of
// that very run.
func (t *table) answered(q string, from lease.ID) bool {
	t.mu.Lock()
	p := t.proofs[from.String()]
	right := q != "" && p != nil && p.q == q
	t.mu.Unlock()
	if right {
		t.prove(from)
	}
	return right
}

// prove notes that a run was just seen to be alive.
func (t *table) prove(id lease.ID) {
	t.mu.Lock()
	r, p := t.rows[id.String()], t.proofs[id.String()]
	if r == nil || p == nil {
		t.mu.Unlock()
		return
	}
	*p = proof{}
	r.LastSeen = t.now()
	came := r.claimed
	if came {
		r.claimed, r.State = false, Alive
		t.prune()
	}
	addr := r.Addr.Addr().String()
	t.mu.Unlock()
	if came {
		t.came(addr)
		t.changed()
	}
}

// due returns the questions to send now and how long until the next ones. self
// and share are this member's node and share id. A run that left its question
// unanswered for proofPatience does not count any more.
func (t *table) due(self, share string) (out []question, wait time.Duration) {
	t.mu.Lock()
	now, hit := t.now(), false
	wait = proofLeast
	for name, p := range t.proofs {
		r := t.rows[name]
		switch {
		case p.q == "" && r.claimed:
			p.ask(now)
		case p.q == "" && p.next.IsZero():
			p.next = now.Add(t.period(r, self, share))
		case p.q == "" && (!p.next.After(now) || urgentProof(r, self, share) && p.next.Sub(now) > proofUrgent):
			p.ask(now)
		case p.q != "" && !r.claimed && now.Sub(p.begun) > proofPatience:
			r.claimed, r.State, hit = true, Dead, true
		}
		if p.q != "" && !p.next.After(now) {
			out = append(out, question{r.ID, p.q, p.tries})
			p.next = now.Add(min(askFirst<<min(p.tries, 10), askMax))
			p.tries++
		}
		wait = min(wait, p.next.Sub(now))
	}
	t.mu.Unlock()
	if hit {
		t.changed()
	}
	return out, max(wait, time.Millisecond)
}

// ask begins a new question.
func (p *proof) ask(now time.Time) { *p = proof{q: newQuestion(), begun: now, next: now} }

// period is how long a run that counts is not asked. The lock is held.
func (t *table) period(r *Row, self, share string) time.Duration {
	if urgentProof(r, self, share) {
		return proofUrgent
	}
	d := max(proofLeast, time.Duration(len(t.proofs))*proofEach)
	return d - rand.N(d/4)
}

func urgentProof(r *Row, self, share string) bool {
	return r.ID.Node == self || share != "" && r.Meta.Share != "" && r.Meta.Share != share
}

// proveLoop asks those who have to prove that they live.
func (g *Gossip) proveLoop() {
	slots := make(chan struct{}, shakesAtOnce)
	for {
		g.metaMu.Lock()
		share := g.meta.Share
		g.metaMu.Unlock()
		questions, wait := g.table.due(g.cfg.Self.Node, share)
		for _, q := range questions {
			g.probes.send(q.to, probeMessage{Type: typeAsk, Q: q.q, By: byUDP, Again: true})
			if q.try >= shakeAfter {
				g.shake(q.to, slots)
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-g.ctx.Done():
			timer.Stop()
			return
		case <-g.claims:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// shake has a run prove itself over a connection, in the background.
func (g *Gossip) shake(to lease.ID, slots chan struct{}) {
	select {
	case slots <- struct{}{}:
	default:
		return // the next packet gives another chance
	}
	g.wg.Go(func() {
		defer func() { <-slots }()
		ctx, cancel := context.WithTimeout(g.ctx, handshakeTimeout)
		defer cancel()
		c, err := g.greet(ctx, to)
		if err != nil {
			g.log.Debug("a member gave no proof over a connection", zap.Stringer("member", to), zap.Error(err))
			return
		}
		_ = c.Close()
		g.table.prove(to)
	})
}
