package faulty

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// inject is an injector made of a function.
type inject struct {
	name string
	do   func(ctx context.Context, call Call, next Next) error
}

func (i inject) Inject(ctx context.Context, call Call, next Next) error {
	return i.do(ctx, call, next)
}

func (i inject) String() string { return i.name }

// Delay makes a call take d longer. Like a blocked system call it does not heed
// ctx.
func Delay(d time.Duration) Injector {
	return inject{fmt.Sprintf("delay(%v)", d), func(ctx context.Context, call Call, next Next) error {
		time.Sleep(d)
		return next(ctx, call)
	}}
}

// Fail refuses a call: it is not carried out and ends with err.
func Fail(err error) Injector {
	return inject{fmt.Sprintf("fail(%v)", err), func(_ context.Context, call Call, _ Next) error {
		return fmt.Errorf("%s %s: %w (injected)", call.Kind, call.Name, err)
	}}
}

// Cut is a share that cannot be reached.
func Cut() Injector {
	return inject{"cut", Fail(lease.ErrUnavailable).Inject}
}

// LostAck carries a change out and loses the answer: ErrUnknown. Reads and
// listings end with ErrUnavailable.
func LostAck() Injector {
	return inject{"lost-ack", func(ctx context.Context, call Call, next Next) error {
		_ = next(ctx, call)
		return lost(call)
	}}
}

// NoBody lets a create win its name without its body. Other calls pass.
func NoBody() Injector {
	return inject{"no-body", func(ctx context.Context, call Call, next Next) error {
		if call.Kind != Create {
			return next(ctx, call)
		}
		call.Body = nil
		if err := next(ctx, call); err != nil {
			return err
		}
		return fmt.Errorf("create %s: %w (injected)", call.Name, lease.ErrNoBody)
	}}
}

// lost is what the caller sees of a call whose answer got lost.
func lost(call Call) error {
	err := lease.ErrUnavailable
	if call.Kind.Changes() {
		err = lease.ErrUnknown
	}
	return fmt.Errorf("%s %s: %w (injected)", call.Kind, call.Name, err)
}

// LateApply gives up on a change at once with ErrUnknown and carries it out d
// later all the same. Reads and listings pass. Share.Wait waits for it.
func LateApply(d time.Duration) Injector { return &lateApply{d: d, late: new(sync.WaitGroup)} }

type lateApply struct {
	d    time.Duration
	late *sync.WaitGroup
}

func (l *lateApply) bind(late *sync.WaitGroup) { l.late = late }

func (l *lateApply) String() string { return fmt.Sprintf("late-apply(%v)", l.d) }

func (l *lateApply) Inject(ctx context.Context, call Call, next Next) error {
	if !call.Kind.Changes() {
		return next(ctx, call)
	}
	l.late.Go(func() {
		time.Sleep(l.d)
		_ = next(context.WithoutCancel(ctx), call)
	})
	return lost(call)
}

// Gate holds calls up while it is closed. It starts open.
type Gate struct {
	mu   sync.Mutex
	shut chan struct{} // nil while open
}

// Close makes calls that arrive from now on wait.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

// Open lets every waiting call go on.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

func (g *Gate) wait() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		<-shut
	}
}

// Stall keeps calls at the gate, before they reach the share, whatever ctx says.
func Stall(g *Gate) Injector {
	return inject{"stall", func(ctx context.Context, call Call, next Next) error {
		g.wait()
		return next(ctx, call)
	}}
}

// StallAnswer carries a call out and keeps its answer at the gate.
func StallAnswer(g *Gate) Injector {
	return inject{"stall-answer", func(ctx context.Context, call Call, next Next) error {
		err := next(ctx, call)
		g.wait()
		return err
	}}
}
