package arbiter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// Store is the chain on the share, as lease.Chain keeps it. Calls may block for
// as long as the share does.
type Store interface {
	List(ctx context.Context) (lease.Listing, error)
	Read(ctx context.Context, share string, rev uint64) ([]byte, error)
	Create(ctx context.Context, share string, rev uint64, body []byte) error
	Found(ctx context.Context, share string, rev uint64, genesis []byte) error
	Delete(ctx context.Context, share string, revs []uint64) error
	Publish(ctx context.Context, v lease.View) error
}

// Codec seals and opens records, as lease.Codec does.
type Codec interface {
	Sealer
	Open(share string, rev uint64, body []byte) lease.Entry
	View(r lease.Record, ready bool, pid int) lease.View
}

// Net sends messages to members, best effort unless said otherwise. Its methods
// do not wait for an answer.
type Net interface {
	SendBeat(to []lease.ID, num uint64, body []byte) error
	SendVouch(to lease.ID, run string, num uint64) error
	SendHead(to lease.ID, body []byte, reliable bool) error
	Watch(id lease.ID)
}

// Guards starts and steers the relay. Its methods do not block; what becomes of
// them is posted to the driver as GuardAcked, RelayReady and RelayDown.
type Guards interface {
	Start(StartRelay)
	SetUntil(SetUntil)
	SetWill(SetWill)
	Stop(StopRelay)
}

// DriverConfig is what a Driver is made of.
type DriverConfig struct {
	Machine Config
	Store   Store
	Codec   Codec
	Net     Net
	Guards  Guards
	// Now is boot time; production passes clock.Boot.
	Now func() time.Duration
	// Report is told every state change. It must not block.
	Report func(Report)
	// OnStatus is told whenever the status changed. It must not block.
	OnStatus func(Status)
}

// backlog bounds the events waiting for the machine that may be lost (those
// from the network).
const backlog = 4096

// Driver owns the one machine of a daemon: it carries actions out, in order,
// and feeds results back. Whatever may block runs in a worker; the machine
// never has two operations of one lane under way (rule 9), so there are at most four.
type Driver struct {
	cfg     DriverConfig
	m       *Machine
	workers sync.WaitGroup

	mu    sync.Mutex
	queue []Event
	ready chan struct{}

	status  atomic.Pointer[Status]
	strange string // what the last listing showed that does not belong there; read lane only
	refused string // why the last listing was denied; read lane only
	hidden  bool   // the last publication failed; publish lane only
}

// NewDriver returns a driver; nothing happens before Run.
func NewDriver(cfg DriverConfig) (*Driver, error) {
	m, err := New(cfg.Machine)
	if err != nil {
		return nil, err
	}
	if cfg.Report == nil {
		cfg.Report = func(Report) {}
	}
	if cfg.OnStatus == nil {
		cfg.OnStatus = func(Status) {}
	}
	d := &Driver{cfg: cfg, m: m, ready: make(chan struct{}, 1)}
	d.status.Store(&Status{Reasons: because(reason.Starting), Role: Ineligible})
	return d, nil
}

// Post hands an event to the machine. It never blocks; when the machine is far
// behind, events from the network are dropped, as the network may.
func (d *Driver) Post(ev Event) {
	d.mu.Lock()
	if len(d.queue) < backlog || !lossy(ev) {
		d.queue = append(d.queue, ev)
	}
	d.mu.Unlock()
	select {
	case d.ready <- struct{}{}:
	default:
	}
}

func lossy(ev Event) bool {
	switch ev.(type) {
	case BeatReceived, VouchReceived, HeadReceived:
		return true
	}
	return false
}

// Status returns the newest snapshot. Deadline, ShareOK and Since are boot time.
func (d *Driver) Status() Status { return *d.status.Load() }

// Run drives the machine until ctx ends or a final handoff is over. On return
// nothing further is begun; operations stuck on the share are left behind. What
// was posted before comes first: the machine must not judge without it.
func (d *Driver) Run(ctx context.Context) {
	for _, ev := range d.take() {
		if d.step(ctx, ev) {
			return
		}
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			if d.step(ctx, Tick{}) {
				return
			}
		case <-d.ready:
			for _, ev := range d.take() {
				if d.step(ctx, ev) {
					return
				}
			}
		}
		timer.Reset(d.pause())
	}
}

// pause is how long to sleep. It is capped because timers stop while a host
// sleeps, and the first thing after waking must be to look at the clock. A
// member is woken by the leader's beats; the cap leaves room for a late one.
func (d *Driver) pause() time.Duration {
	return max(min(d.m.Wake()-d.cfg.Now(), 2*d.cfg.Machine.Beat), 0)
}

func (d *Driver) take() []Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	evs := d.queue
	d.queue = nil
	return evs
}

// step reports whether the machine has finished. The status is stored before
// the actions begin: whoever meets the relay they start must find it to be ours.
func (d *Driver) step(ctx context.Context, ev Event) (finished bool) {
	actions := d.m.Step(d.cfg.Now(), ev)
	s := d.m.Status()
	old := d.status.Swap(&s)
	for _, a := range actions {
		if _, ok := a.(Finished); ok {
			finished = true
			continue
		}
		d.do(ctx, a)
	}
	if !sameStatus(*old, s) {
		d.cfg.OnStatus(s)
	}
	return finished
}

// sameStatus compares what the others and the API's watchers care about; the
// deadline moves with every beat.
func sameStatus(a, b Status) bool {
	return a.Role == b.Role && a.Eligible == b.Eligible && slices.Equal(a.Reasons, b.Reasons) && a.Failures == b.Failures && a.Share == b.Share &&
		a.Rev == b.Rev && a.Epoch == b.Epoch && a.Head.Kind == b.Head.Kind && a.Relay == b.Relay && a.RelayPID == b.RelayPID
}

// do begins one action.
func (d *Driver) do(ctx context.Context, a Action) {
	switch a := a.(type) {
	case StartRelay:
		d.cfg.Guards.Start(a)
	case SetUntil:
		d.cfg.Guards.SetUntil(a)
	case SetWill:
		d.cfg.Guards.SetWill(a)
	case StopRelay:
		d.cfg.Guards.Stop(a)
	case SendBeat:
		_ = d.cfg.Net.SendBeat(a.To, a.Num, a.Body) // best effort: a lost beat is ordinary
	case SendVouch:
		_ = d.cfg.Net.SendVouch(a.To, a.To.Run, a.Num)
	case SendHead:
		d.sendHead(a)
	case Watch:
		d.cfg.Net.Watch(a.ID)
	case Report:
		d.cfg.Report(a)
	default:
		d.worker(ctx, a)
	}
}

func (d *Driver) sendHead(a SendHead) {
	if !a.Reliable {
		_ = d.cfg.Net.SendHead(a.To, a.Body, false)
		return
	}
	d.workers.Go(func() { _ = d.cfg.Net.SendHead(a.To, a.Body, true) })
}

// worker carries out one operation on the share.
func (d *Driver) worker(ctx context.Context, a Action) {
	d.workers.Go(func() { d.Post(d.perform(ctx, a)) })
}

func (d *Driver) perform(ctx context.Context, a Action) Event {
	s := d.cfg.Store
	switch a := a.(type) {
	case List:
		l, err := s.List(ctx)
		d.reportStrange(l.Strange)
		d.reportRefused(err)
		return Listed{Op: a.Op, Outcome: outcomeOf(err), Share: l.Share, Revs: l.Revs}
	case Read:
		body, err := s.Read(ctx, a.Share, a.Rev)
		switch {
		case errors.Is(err, lease.ErrIrregular): // it answered: no record can be there
			return ReadDone{Op: a.Op, Entry: lease.IrregularEntry(a.Rev, err)}
		case err != nil:
			return ReadDone{Op: a.Op, Outcome: outcomeOf(err)}
		}
		return ReadDone{Op: a.Op, Entry: d.cfg.Codec.Open(a.Share, a.Rev, body)}
	case Create:
		return Created{Op: a.Op, Outcome: outcomeOf(s.Create(ctx, a.Share, a.Rev, a.Body))}
	case Found:
		return Founded{Op: a.Op, Outcome: outcomeOf(s.Found(ctx, a.Share, a.Rev, a.Genesis))}
	case Publish:
		err := s.Publish(ctx, d.cfg.Codec.View(a.Record, a.Ready, a.PID))
		d.reportView(ctx, err)
		return Published{Op: a.Op, Outcome: outcomeOf(err)}
	case Housekeep:
		return Housekept{Op: a.Op, Outcome: outcomeOf(s.Delete(ctx, a.Share, a.Revs))}
	}
	return Tick{}
}

// reportStrange says once what does not belong in the chain's folder. Only the
// one listing under way calls it.
func (d *Driver) reportStrange(names []string) {
	text := strings.Join(names, ", ")
	if text == d.strange {
		return
	}
	d.strange = text
	if text != "" {
		d.cfg.Report(Report{Warn: true, Reason: reason.Reason{Code: reason.NamesIgnored, Detail: text}})
	}
}

// reportRefused says once why the share does not show the chain although it
// answers. Only the one listing under way calls it.
func (d *Driver) reportRefused(err error) {
	text := ""
	if errors.Is(err, lease.ErrDenied) {
		if text = lease.IrregularCause(err); text == "" {
			text = err.Error()
		}
	}
	if text != d.refused && text != "" {
		d.cfg.Report(Report{Warn: true, Reason: reason.Reason{Code: reason.ChainUnreadable, Detail: text}})
	}
	d.refused = text
}

// outcomeOf translates an error of a share. Whatever is not known for certain
// is Uncertain.
func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return OK
	case errors.Is(err, lease.ErrNoBody):
		return NoBody
	case errors.Is(err, lease.ErrUnknown):
		return Uncertain
	case errors.Is(err, lease.ErrExists):
		return Exists
	case errors.Is(err, lease.ErrNotExist):
		return NotExist
	case errors.Is(err, lease.ErrDenied):
		return Denied
	case errors.Is(err, lease.ErrUnavailable):
		return Unavailable
	}
	return Uncertain
}
