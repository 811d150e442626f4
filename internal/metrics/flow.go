package metrics

import (
	"sync"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

const (
	// answerBeats is how many beats later a vouch is given up as lost.
	answerBeats = 8
	// gapLimit bounds what counts as loss in a leader's numbering: a member
	// that was not beaten for that long was off the leader's list meanwhile.
	gapLimit = 3 * time.Second
)

// flow follows beats and vouches to see what is missing.
type flow struct {
	mu sync.Mutex

	// As leader: who has not vouched yet for each of the newest beats.
	open [answerBeats]sentBeat

	// As member: the leader heard last, its newest number, and when.
	from lease.ID
	num  uint64
	at   time.Duration
}

type sentBeat struct {
	num  uint64
	wait map[lease.ID]struct{}
}

// sent notes a beat and returns how many vouches for an older one are lost.
func (f *flow) sent(to []lease.ID, num uint64) (lost int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.open[num%answerBeats]
	lost = len(b.wait)
	b.num, b.wait = num, make(map[lease.ID]struct{}, len(to))
	for _, id := range to {
		b.wait[id] = struct{}{}
	}
	return lost
}

// answered notes a vouch.
func (f *flow) answered(from lease.ID, num uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := &f.open[num%answerBeats]; b.num == num {
		delete(b.wait, from)
	}
}

// heard notes a leader's beat and returns how many before it are missing.
// Beats that overtook each other count as lost: they were of no use.
func (f *flow) heard(from lease.ID, num uint64, now time.Duration) (lost uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case from != f.from:
	case num <= f.num:
		return 0
	case now-f.at <= gapLimit:
		lost = num - f.num - 1
	}
	f.from, f.num, f.at = from, num, now
	return lost
}

// Net returns n with beats and vouches counted.
func (m *Metrics) Net(n arbiter.Net) arbiter.Net { return counting{n, m} }

type counting struct {
	arbiter.Net
	m *Metrics
}

func (c counting) SendBeat(to []lease.ID, num uint64, body []byte) error {
	m := c.m
	m.beatsSent.Add(float64(len(to)))
	m.vouchesLost.Add(float64(m.flow.sent(to, num)))
	if s := m.src.Status(); s.Deadline != 0 {
		m.margin.Observe(m.fenceMargin(s).Seconds())
	}
	return c.Net.SendBeat(to, num, body)
}

func (c counting) SendVouch(to lease.ID, run string, num uint64) error {
	c.m.vouchesSent.Inc()
	return c.Net.SendVouch(to, run, num)
}

// Event is shown what the arbiter is told.
func (m *Metrics) Event(ev arbiter.Event) {
	switch ev := ev.(type) {
	case arbiter.BeatReceived:
		m.beatsGot.Inc()
		m.beatsLost.Add(float64(m.flow.heard(ev.From, ev.Num, m.src.Now())))
	case arbiter.VouchReceived:
		m.vouchesGot.Inc()
		m.flow.answered(ev.From, ev.Num)
	case arbiter.RelayDown:
		m.relayEnds.WithLabelValues(ev.Cause.String()).Inc()
	}
}
