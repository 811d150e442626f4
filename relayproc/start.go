package relayproc

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
)

// Guard is a running guard as the daemon sees it. Its methods never block and
// may be called from anywhere; after Down they do nothing.
type Guard struct {
	spec Spec
	mark string // in the environment of a tree without namespace
	proc *os.Process
	in   *outbox // to the guard's stdin
	emit *mailbox

	lines  chan string
	gone   chan struct{} // closed when the guard's process ended
	exit   string        // how it ended, once gone is closed
	health chan verdict
	moved  chan struct{} // the deadline came closer, or a stop was asked for
	ended  chan struct{} // closed with Down
	done   chan struct{} // closed when nothing of this is left
	wg     sync.WaitGroup

	mu    sync.Mutex
	until time.Duration // newest deadline sent
	seq   uint64        // its number
	acked uint64        // newest number acknowledged
	stop  bool          // an end was asked for
	stopT time.Duration // boot time by which the guard must have carried it out
	asks  map[int]chan bool
}

// Start starts a guard by cmd, and it the relay of spec, which may run until
// the boot time until; the guard acknowledges that as firstSeq. onEvent is
// called with each event in order, from one goroutine; Down is the last, and
// always comes if Start returned no error. The end of ctx means Kill.
func Start(ctx context.Context, cmd Command, spec Spec, firstSeq uint64, until time.Duration, onEvent func(Event)) (*Guard, error) {
	spec = spec.withDefaults()
	if err := spec.validate(); err != nil {
		return nil, err
	}
	env := CleanEnv(os.Environ(), spec.Secrets...)
	wire := spec.wire(mergeEnv(env, spec.Env))
	first, err := json.Marshal(wire)
	if err != nil {
		return nil, fmt.Errorf("describe relay: %w", err)
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, fmt.Errorf("start guard: %w", err)
	}
	c := exec.Command(cmd.Path, cmd.Args...)
	c.Env, c.SysProcAttr = env, guardAttr()
	c.Stdin, c.Stdout, c.Stderr = pipes.inR, pipes.outW, pipes.errW
	if err := c.Start(); err != nil {
		pipes.closeAll()
		return nil, fmt.Errorf("start guard %s: %w", cmd.Path, err)
	}
	pipes.closeTheirs()
	g := &Guard{
		spec: spec, mark: wire.Mark, proc: c.Process, in: newOutbox(pipes.inW), emit: newMailbox(onEvent),
		lines: make(chan string, 64), gone: make(chan struct{}), health: make(chan verdict, 4),
		moved: make(chan struct{}, 1),
		ended: make(chan struct{}), done: make(chan struct{}), asks: map[int]chan bool{},
	}
	g.in.put("", string(first))
	g.Until(firstSeq, until)
	g.run(ctx, c, pipes)
	return g, nil
}

// run starts everything that looks after one guard; each part ends by itself
// once guard and tree are gone.
func (g *Guard) run(ctx context.Context, c *exec.Cmd, p *pipes) {
	stop := context.AfterFunc(ctx, g.Kill)
	lines := g.lines
	g.wg.Go(func() { readLines(p.outR, lines, g.ended) })
	g.wg.Go(func() { pumpOutput(p.errR, g.spec.Output) })
	g.wg.Go(func() {
		_ = c.Wait()
		g.exit = c.ProcessState.String()
		close(g.gone)
	})
	w := &watch{g: g, cause: GuardLost}
	g.wg.Go(w.run)
	go func() {
		<-g.ended
		stop()
		g.letGo(p)
		g.wg.Wait()
		g.emit.close()
		close(g.done)
	}()
}

// letGo gives the guard a moment to end by itself and closes the pipes, so that
// nothing hangs on a process that still holds them.
func (g *Guard) letGo(p *pipes) {
	g.in.flush(lastWords)
	t := time.NewTimer(willPatience)
	defer t.Stop()
	select {
	case <-g.gone:
	case <-t.C:
		g.proc.Kill()
	}
	p.closeOurs()
}

// PID is the guard's pid.
func (g *Guard) PID() int { return g.proc.Pid }

// Done is closed some time after Down, when guard, pipes and goroutines are
// gone too.
func (g *Guard) Done() <-chan struct{} { return g.done }

// Until moves the deadline to the boot time d, either way. The guard answers
// with Acked{seq} once it is in force; seq must grow.
func (g *Guard) Until(seq uint64, d time.Duration) {
	g.mu.Lock()
	earlier := d < g.until
	g.until, g.seq = d, seq
	g.mu.Unlock()
	if earlier {
		g.wakeWatch() // it sleeps towards the old one
	}
	g.in.put("until", order{kind: "until", seq: seq, until: d}.String())
}

// Will hands the guard the payload of the last will, replacing the last one.
func (g *Guard) Will(payload []byte) {
	g.in.put("will", order{kind: "will", will: payload}.String())
}

// Stop asks the relay to end and kills it after grace; at once if that is zero.
func (g *Guard) Stop(grace time.Duration) {
	g.stopping(grace)
	g.in.put("", order{kind: "stop", grace: grace}.String())
}

// Kill kills the tree at once.
func (g *Guard) Kill() {
	g.stopping(0)
	g.in.put("", "kill")
}

// wakeWatch makes the watch look at the deadline and at stops anew.
func (g *Guard) wakeWatch() {
	select {
	case g.moved <- struct{}{}:
	default: // it has not even seen the last
	}
}

func (g *Guard) stopping(grace time.Duration) {
	defer g.wakeWatch()
	g.mu.Lock()
	defer g.mu.Unlock()
	by := clock.Boot() + grace
	if !g.stop || by < g.stopT {
		g.stopT = by
	}
	g.stop = true
}

// owns asks the guard whether a process belongs to its tree.
func (g *Guard) owns(ctx context.Context, pid int) (bool, error) {
	answer := make(chan bool, 1)
	g.mu.Lock()
	g.asks[pid] = answer
	g.mu.Unlock()
	g.in.put("", order{kind: "owns", pid: pid}.String())
	select {
	case yes := <-answer:
		return yes, nil
	case <-ctx.Done():
		return false, fmt.Errorf("ask guard about pid %d: %w", pid, ctx.Err())
	case <-g.ended:
		return false, fmt.Errorf("ask guard about pid %d: it is gone", pid)
	}
}

func (g *Guard) answer(pid int, yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.asks[pid]; c != nil {
		c <- yes
		delete(g.asks, pid)
	}
}
