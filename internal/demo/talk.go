package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/standin"
)

// talk is two clients that exchange numbered messages through whatever relay
// the site has, and reconnect by themselves.
type talk struct {
	s      *localsite.Site
	a, b   *standin.Client
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu   sync.Mutex
	got  int
	back map[uint64]time.Time // epoch → when the receiving client was connected
}

func newTalk(s *localsite.Site) *talk {
	t := &talk{s: s, back: map[uint64]time.Time{}}
	t.a = &standin.Client{KMSN: localsite.KMSN, Station: "CLIENT-A", Find: t.find, Retry: 10 * time.Millisecond}
	t.b = &standin.Client{KMSN: localsite.KMSN, Station: "CLIENT-B", Find: t.find, Retry: 10 * time.Millisecond, OnFrame: t.frame, OnConnect: t.connected}
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	t.done.Go(func() { t.a.Run(ctx) })
	t.done.Go(func() { t.b.Run(ctx) })
	t.done.Go(func() { t.send(ctx) })
	return t
}

func (t *talk) close() {
	t.cancel()
	t.done.Wait()
}

// find asks the daemons, as a program on any PC would ask its own.
func (t *talk) find(ctx context.Context) (string, error) {
	last := localsite.ErrNoLeader
	for _, n := range t.s.Nodes {
		if !n.Running() {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		l, ok, err := n.Client().Leader(ask)
		cancel()
		if err == nil && ok && l.Ready {
			return net.JoinHostPort(l.IP, strconv.Itoa(l.Port)), nil
		}
		if err != nil {
			last = err
		}
	}
	return "", last
}

func (t *talk) send(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		body, _ := json.Marshal(map[string]any{"type": "demo", "number": n})
		_ = t.a.Send(body) // no relay right now: the number is lost, as it would be
	}
}

func (t *talk) frame([]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.got++
}

func (t *talk) connected(h standin.Hello) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.back[h.Epoch].IsZero() {
		t.back[h.Epoch] = time.Now()
	}
}

func (t *talk) received() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.got
}

func (t *talk) reconnected(epoch uint64) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.back[epoch]
}

// exchange waits until n more messages have come through.
func (t *talk) exchange(ctx context.Context, n int) error {
	from := t.received()
	for t.received() < from+n {
		select {
		case <-ctx.Done():
			return fmt.Errorf("exchange messages through the relay: %d of %d came: %w", t.received()-from, n, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
