package gossip

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/netip"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

const (
	// probeTime bounds asking one member. A connection whose first packet was
	// lost needs a second, a slow one up to Tuning.StreamTimeout.
	probeTime = 3500 * time.Millisecond
	// probeAgain is when an unanswered packet is sent again, and probeTries how
	// often: one lost packet is no blocked port.
	probeAgain = 300 * time.Millisecond
	probeTries = 5
	// raceTime bounds asking a member to race, its creates included.
	raceTime = 5 * time.Second
)

// Ways are the ways to and from a member that were seen to work.
type Ways struct {
	UDPOut, UDPBack bool
	TCPOut, TCPBack bool
}

// All reports whether every way works.
func (w Ways) All() bool { return w.UDPOut && w.UDPBack && w.TCPOut && w.TCPBack }

// Probed is what asking one member showed.
type Probed struct {
	ID       lease.ID
	Addr     netip.AddrPort
	Answered bool
	Ways     Ways
	Says     Says // of the quickest answer
	// Skew is its wall clock minus ours, exact to RTT/2.
	Skew, RTT time.Duration
}

// prober asks members and answers them. A question is answered once by packet
// and once over a connection, whichever way it came: so four bits tell which
// ways work in which direction.
type prober struct {
	g       *Gossip
	asked   chan probeMessage // questions to us, waiting for a worker
	proving chan probeMessage // those that are answered by one packet
	rate    *limiter
	racing  chan struct{} // one race at a time
	raced   time.Time     // when the last one began; guarded by racing
	waiting sync.Map      // Q → chan probeMessage, of our own questions
}

// take takes a message in if it belongs to a probe. It is called by memberlist
// and does not block.
func (p *prober) take(b []byte) bool {
	if !isProbe(b) {
		return false
	}
	m, err := decodeProbe(b)
	if err != nil || m.From == p.g.cfg.Self {
		return true
	}
	if m.Type == typeAnswer {
		if p.g.table.answered(m.Q, m.From) {
			return true
		}
		if c, ok := p.waiting.Load(m.Q); ok {
			offer(c.(chan probeMessage), m)
		}
		return true
	}
	if m.proof() { // costs no more than memberlist's own pings, which know no limit
		offer(p.proving, m)
	} else if ok, _ := p.rate.allow(); ok {
		offer(p.asked, m)
	}
	return true
}

func offer(c chan probeMessage, m probeMessage) {
	select {
	case c <- m:
	default:
	}
}

// Probe asks one live member by packet and over a connection, and waits until
// all ways are seen to work or a few seconds passed. It is for finding faults;
// nothing is decided by it.
func (g *Gossip) Probe(ctx context.Context, to lease.ID) Probed {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	row, _ := g.table.get(to)
	out := Probed{ID: to, Addr: row.Addr}
	q, answers, end := g.probes.question()
	defer end()
	begin := time.Now()
	go g.probes.send(to, probeMessage{Type: typeAsk, Q: q, By: byTCP})
	again := time.NewTicker(probeAgain)
	defer again.Stop()
	for try := 0; !out.Ways.All(); {
		if try < probeTries && (!out.Ways.UDPOut || !out.Ways.UDPBack) {
			g.probes.send(to, probeMessage{Type: typeAsk, Q: q, By: byUDP, Again: try > 0})
			try++
		}
		select {
		case m := <-answers:
			if m.From == to {
				out.heard(m, begin)
			}
			continue
		case <-again.C:
		case <-ctx.Done():
			return out
		case <-g.ctx.Done():
			return out
		}
	}
	return out
}

// heard notes what one answer tells.
func (p *Probed) heard(m probeMessage, begin time.Time) {
	now := time.Now()
	if rtt := now.Sub(begin); !p.Answered {
		p.Answered, p.Says, p.RTT = true, m.Says, rtt
		p.Skew = time.UnixMilli(m.WallMS).Sub(now.Add(-rtt / 2))
	}
	switch m.Of {
	case byUDP:
		p.Ways.UDPOut = true
	case byTCP:
		p.Ways.TCPOut = true
	}
	switch m.By {
	case byUDP:
		p.Ways.UDPBack = true
	case byTCP:
		p.Ways.TCPBack = true
	}
}

// ProbeRace asks one live member to race for the names of race (see
// lease.RaceOne) and returns what it says it won. began is called once the
// question is on its way; the caller races then.
func (g *Gossip) ProbeRace(ctx context.Context, to lease.ID, race string, began func()) (Says, bool) {
	ctx, cancel := context.WithTimeout(ctx, raceTime)
	defer cancel()
	q, answers, end := g.probes.question()
	defer end()
	go g.probes.send(to, probeMessage{Type: typeAsk, Q: q, By: byTCP, Race: race})
	began()
	for {
		select {
		case m := <-answers:
			if m.From == to {
				return m.Says, true
			}
		case <-ctx.Done():
			return Says{}, false
		case <-g.ctx.Done():
			return Says{}, false
		}
	}
}

// newQuestion returns a name that no answer of the past can bear.
func newQuestion() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// question opens a place for the answers to one question.
func (p *prober) question() (q string, answers chan probeMessage, end func()) {
	q = newQuestion()
	answers = make(chan probeMessage, 4*probeTries)
	p.waiting.Store(q, answers)
	return q, answers, func() { p.waiting.Delete(q) }
}

// send sends by the way the message names. A connection takes its time, bounded
// by Tuning.StreamTimeout and by the end of gossip. What cannot be sent is not
// answered, which says the same.
func (p *prober) send(to lease.ID, m probeMessage) {
	m.From = p.g.cfg.Self
	b, err := m.encode()
	ml := p.g.list()
	n, err2 := p.g.node(to)
	switch {
	case err != nil || err2 != nil || ml == nil:
	case m.By == byUDP:
		_ = ml.SendBestEffort(n, b)
	default:
		_ = ml.SendReliable(n, b)
	}
}
