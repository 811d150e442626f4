package gossip

import (
	"context"
	"sync/atomic"

	"github.com/convertfw/floatrelay/lease"
)

// Handler is told what the members say. Its methods are called one at a time
// by one goroutine, with no lock held; they may call Gossip, except Leave,
// SetAddress and Close, which wait for that goroutine. While one blocks, newer
// messages push out older ones.
type Handler interface {
	// Beat is a beat of from with the bytes of its record, which many beats
	// share: they must not be changed.
	Beat(from lease.ID, num uint64, body []byte)
	// Vouch answers beat num of run.
	Vouch(from lease.ID, run string, num uint64)
	// Head is the newest record from knows.
	Head(from lease.ID, body []byte)
	// LeaderGone says that the watched connection to id ended, and not because
	// we dropped it.
	LeaderGone(id lease.ID)
	// Members says that Gossip.Members has changed.
	Members()
}

// queueSize holds about four seconds of a leader with a full roster.
const queueSize = 256

// queue stands between memberlist's callbacks and the Handler. Putting never
// blocks: of messages the oldest is dropped, for it is the one that matters
// least; a change of the table is one bit.
type queue struct {
	messages chan message
	table    chan struct{}
	gone     chan lease.ID
	dropped  atomic.Uint64
}

func newQueue() *queue {
	return &queue{
		messages: make(chan message, queueSize),
		table:    make(chan struct{}, 1),
		gone:     make(chan lease.ID),
	}
}

// put adds a message.
func (q *queue) put(m message) {
	for {
		select {
		case q.messages <- m:
			return
		default:
		}
		select {
		case <-q.messages:
			q.dropped.Add(1)
		default:
		}
	}
}

// tableChanged notes that the member table changed.
func (q *queue) tableChanged() {
	select {
	case q.table <- struct{}{}:
	default:
	}
}

// leaderGone waits until the handler has been told; only the watcher calls it.
func (q *queue) leaderGone(ctx context.Context, id lease.ID) {
	select {
	case q.gone <- id:
	case <-ctx.Done():
	}
}

// run delivers until ctx ends.
func (q *queue) run(ctx context.Context, h Handler, hear func(message), onTable func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-q.gone:
			h.LeaderGone(id)
		case <-q.table:
			onTable()
			h.Members()
		case m := <-q.messages:
			hear(m)
		}
	}
}

// hear takes in one message. Only the queue's goroutine calls it.
func (g *Gossip) hear(m message) {
	switch m.Type {
	case typeBeat:
		g.heard.full(m.From, m.Num, m.Body)
		g.handler.Beat(m.From, m.Num, m.Body)
	case typeBriefBeat:
		body, ask := g.heard.brief(m.From, m.Num, m.Sum)
		if body != nil {
			g.handler.Beat(m.From, m.Num, body)
		} else if ask {
			_ = g.send([]lease.ID{m.From}, message{Type: typeWant, From: g.cfg.Self, Run: m.From.Run, Num: m.Num})
		}
	case typeWant:
		g.beatAgain(m)
	case typeVouch, typeBriefVouch:
		if m.Run == g.cfg.Self.Run {
			g.beats.answered(m.From, m.Num)
		}
		g.handler.Vouch(m.From, m.Run, m.Num)
	case typeHead:
		g.handler.Head(m.From, m.Body)
	}
}

// beatAgain sends a member the beat it could not make, this time in full.
func (g *Gossip) beatAgain(m message) {
	if m.Run != g.cfg.Self.Run {
		return
	}
	if body, ok := g.beats.asked(m.From, m.Num); ok {
		_ = g.send([]lease.ID{m.From}, message{Type: typeBeat, From: g.cfg.Self, Num: m.Num, Body: body})
	}
}
