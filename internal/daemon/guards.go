package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/relayproc"
)

// guards carries out what the arbiter wants of the relay. Starting a process
// takes milliseconds, so it happens beside the arbiter; what is asked of a
// guard before it runs is kept and handed over then.
type guards struct {
	ctx  context.Context
	cmd  relayproc.Command
	spec func(epoch uint64) relayproc.Spec
	will func(arbiter.SetWill) []byte
	post func(arbiter.Event)
	say  tell

	mu  sync.Mutex
	gen uint64
	run *relayproc.Guard
	// Wishes that came before run was there.
	until *arbiter.SetUntil
	last  *arbiter.SetWill
	stop  *arbiter.StopRelay
	alive sync.WaitGroup
}

// Start starts a guard. The arbiter never starts one before the last is down.
func (g *guards) Start(a arbiter.StartRelay) {
	g.mu.Lock()
	g.gen, g.run, g.until, g.last, g.stop = a.Gen, nil, nil, nil, nil
	g.mu.Unlock()
	g.alive.Go(func() { g.start(a) })
}

func (g *guards) start(a arbiter.StartRelay) {
	run, err := relayproc.Start(g.ctx, g.cmd, g.spec(a.Epoch), a.Seq, a.Until, func(ev relayproc.Event) { g.event(a.Gen, ev) })
	if err != nil {
		g.post(arbiter.RelayDown{Gen: a.Gen, Cause: arbiter.DownFailed, Note: err.Error()})
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gen != a.Gen { // it is down already, and the next one's orders are not for it
		run.Kill()
		return
	}
	g.run = run
	if g.last != nil {
		run.Will(g.will(*g.last))
	}
	if g.until != nil {
		run.Until(g.until.Seq, g.until.Until)
	}
	if g.stop != nil {
		stopGuard(run, g.stop.Grace)
	}
}

// SetUntil moves the deadline.
func (g *guards) SetUntil(a arbiter.SetUntil) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case a.Gen != g.gen:
	case g.run == nil:
		g.until = &a
	default:
		g.run.Until(a.Seq, a.Until)
	}
}

// SetWill hands over what the guard needs to release the lease by itself.
func (g *guards) SetWill(a arbiter.SetWill) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case a.Gen != g.gen:
	case g.run == nil:
		g.last = &a
	default:
		g.run.Will(g.will(a))
	}
}

// Stop ends the relay.
func (g *guards) Stop(a arbiter.StopRelay) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case a.Gen != g.gen:
	case g.run == nil:
		g.stop = &a
	default:
		stopGuard(g.run, a.Grace)
	}
}

func stopGuard(run *relayproc.Guard, grace time.Duration) {
	if grace <= 0 {
		run.Kill()
		return
	}
	run.Stop(grace)
}

// event translates what a guard reports.
func (g *guards) event(gen uint64, ev relayproc.Event) {
	switch ev := ev.(type) {
	case relayproc.Acked:
		g.post(arbiter.GuardAcked{Gen: gen, Seq: ev.Seq})
	case relayproc.Ready:
		g.post(arbiter.RelayReady{Gen: gen, PID: ev.PID})
	case relayproc.Started:
		g.say(false, reason.Reason{Code: reason.RelayStarted, PID: ev.PID})
	case relayproc.Waiting:
		g.say(true, reason.Reason{Code: reason.RelayWaits, Detail: ev.Note})
	case relayproc.Unready:
		g.say(true, reason.Reason{Code: reason.RelaySilent, Detail: ev.Note})
	case relayproc.Down:
		g.post(arbiter.RelayDown{Gen: gen, Cause: causes[ev.Cause], Note: ev.Note})
	}
}

// causes translates one package's names into the other's, since neither knows
// the other.
var causes = map[relayproc.Cause]arbiter.DownCause{
	relayproc.Stopped:   arbiter.DownStopped,
	relayproc.Deadline:  arbiter.DownDeadline,
	relayproc.Exited:    arbiter.DownExited,
	relayproc.NotReady:  arbiter.DownUnready,
	relayproc.Failed:    arbiter.DownFailed,
	relayproc.GuardLost: arbiter.DownGuard,
}
