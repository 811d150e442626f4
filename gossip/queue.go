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
	// Beat is a beat of from with the bytes of its record.
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
func (q *queue) run(ctx context.Context, h Handler, onTable func()) {
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
			m.deliver(h)
		}
	}
}

func (m message) deliver(h Handler) {
	switch m.Type {
	case typeBeat:
		h.Beat(m.From, m.Num, m.Body)
	case typeVouch:
		h.Vouch(m.From, m.Run, m.Num)
	case typeHead:
		h.Head(m.From, m.Body)
	}
}
