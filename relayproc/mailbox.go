package relayproc

import "sync"

// mailbox calls a function with each event, in order, from a goroutine of its
// own, so that a slow receiver delays nobody who looks after a deadline.
type mailbox struct {
	mu     sync.Mutex
	queue  []Event
	closed bool
	wake   chan struct{}
	done   chan struct{}
}

func newMailbox(deliver func(Event)) *mailbox {
	m := &mailbox{wake: make(chan struct{}, 1), done: make(chan struct{})}
	go m.run(deliver)
	return m
}

func (m *mailbox) put(ev Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue = append(m.queue, ev)
	m.signal()
}

// close delivers what is queued and waits for it.
func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.signal()
	m.mu.Unlock()
	<-m.done
}

func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *mailbox) run(deliver func(Event)) {
	defer close(m.done)
	for range m.wake {
		m.mu.Lock()
		batch, closed := m.queue, m.closed
		m.queue = nil
		m.mu.Unlock()
		for _, ev := range batch {
			deliver(ev)
		}
		if closed {
			return
		}
	}
}
