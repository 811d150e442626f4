package bubble

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// How long things take a guard and its relay.
const (
	spawnMin, spawnMax = 2 * time.Millisecond, 10 * time.Millisecond
	readyAfter         = 30 * time.Millisecond // a stand-in relay accepts by then
	lineDelay          = 100 * time.Microsecond
	quickKill          = 10 * time.Millisecond // a tree asked or told to end, at most
)

// guards is one run's arbiter.Guards. Like the real one it starts guards that
// outlive the daemon.
type guards struct {
	n *node

	mu  sync.Mutex
	cur *guard
}

// guard is one guard process with the relay it owns: it kills the tree at its
// deadline, when told to, and when its daemon is gone, and then carries out the
// last will.
type guard struct {
	n     *node
	gen   uint64
	epoch uint64
	stop  chan time.Duration // asked to end
	eof   chan struct{}      // the daemon is gone
	off   chan struct{}      // the host is gone
	moved chan struct{}      // the deadline changed

	mu    sync.Mutex
	until time.Duration
	will  *arbiter.SetWill
	dying bool
}

func (g *guards) Start(a arbiter.StartRelay) {
	x := &guard{
		n: g.n, gen: a.Gen, epoch: a.Epoch, until: a.Until,
		stop: make(chan time.Duration, 1), moved: make(chan struct{}, 1),
		eof: g.n.gone, off: g.n.off,
	}
	g.mu.Lock()
	g.cur = x
	g.mu.Unlock()
	g.n.site.side.Go(func() { x.run(a.Seq) })
}

// of returns the guard of a generation, or nil.
func (g *guards) of(gen uint64) *guard {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cur == nil || g.cur.gen != gen {
		return nil
	}
	return g.cur
}

func (g *guards) SetUntil(a arbiter.SetUntil) {
	x := g.of(a.Gen)
	if x == nil {
		return
	}
	time.AfterFunc(lineDelay, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.dying {
			return
		}
		x.until = a.Until
		select {
		case x.moved <- struct{}{}:
		default:
		}
		x.n.post(arbiter.GuardAcked{Gen: a.Gen, Seq: a.Seq})
	})
}

func (g *guards) SetWill(a arbiter.SetWill) {
	if x := g.of(a.Gen); x != nil {
		x.mu.Lock()
		x.will = &a
		x.mu.Unlock()
	}
}

func (g *guards) Stop(a arbiter.StopRelay) {
	if x := g.of(a.Gen); x != nil {
		select {
		case x.stop <- a.Grace:
		default:
		}
	}
}

// run is the life of the process.
func (g *guard) run(seq uint64) {
	if !g.sleep(between(spawnMin, spawnMax)) {
		return
	}
	g.n.post(arbiter.GuardAcked{Gen: g.gen, Seq: seq})
	g.mu.Lock()
	late := g.n.boot() >= g.until
	g.mu.Unlock()
	if late {
		g.n.post(arbiter.RelayDown{Gen: g.gen, Cause: arbiter.DownDeadline})
		return
	}
	l := g.n.site.watch.started(g.n, g.epoch)
	ready := time.AfterFunc(readyAfter, func() { g.n.post(arbiter.RelayReady{Gen: g.gen, PID: 1}) })
	defer ready.Stop()
	cause, why := g.wait()
	g.mu.Lock()
	g.dying = true
	g.mu.Unlock()
	margin := arbiter.KillMargin(fence)
	latency := between(time.Millisecond, quickKill)
	if why == "deadline" {
		latency = between(time.Millisecond, margin) // the contract allows all of it
	}
	if why == "host" || !g.sleep(latency) {
		g.n.site.watch.ended(l, "host gone")
		return
	}
	g.n.site.watch.ended(l, why)
	if why == "eof" {
		g.lastWill()
		return
	}
	g.n.post(arbiter.RelayDown{Gen: g.gen, Cause: cause})
}

// wait returns when the tree has to die.
func (g *guard) wait() (arbiter.DownCause, string) {
	for {
		g.mu.Lock()
		left := g.n.untilBoot(g.until)
		g.mu.Unlock()
		if left <= 0 {
			return arbiter.DownDeadline, "deadline"
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-g.moved:
		case <-g.stop:
			timer.Stop()
			return arbiter.DownStopped, "stopped"
		case <-g.eof:
			timer.Stop()
			return arbiter.DownGuard, "eof"
		case <-g.off:
			timer.Stop()
			return arbiter.DownGuard, "host"
		}
		timer.Stop()
	}
}

// lastWill releases the lease of the daemon that is gone.
func (g *guard) lastWill() {
	g.mu.Lock()
	w := g.will
	g.mu.Unlock()
	if w == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rev, err := lease.Will(ctx, g.n.chain, g.n.site.codec, w.Record, w.Tip)
	g.n.site.watch.note("%s: last will: record %d, %v", g.n.station(), rev, err)
}

// sleep waits and reports whether the host is still there.
func (g *guard) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-g.off:
		return false
	}
}

func between(lo, hi time.Duration) time.Duration { return lo + rand.N(hi-lo+1) }
