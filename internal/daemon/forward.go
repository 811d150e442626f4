package daemon

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/forward"
	"github.com/convertfw/floatrelay/internal/localapi"
)

// forwarding leads the programs of this PC to the relay. A nil one is off.
type forwarding struct {
	*forward.Forwarder
	wake chan struct{} // the view of who leads may have changed
}

// look is told that the view may have changed. It does not block.
func (f *forwarding) look() {
	if f == nil {
		return
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (d *Daemon) openForward() {
	if d.cfg.ForwardPort == 0 {
		return
	}
	opt := forward.Options{Port: d.cfg.ForwardPort, Hold: d.cfg.ForwardHold, Idle: d.cfg.ForwardIdle, Log: d.log}
	if d.cfg.ForwardFallback {
		opt.FallbackHost, opt.FallbackPort = d.cfg.ForwardTo()
	}
	d.forward = &forwarding{forward.New(opt), make(chan struct{}, 1)}
}

// forwardPrograms serves FORWARD_PORT for as long as ctx lasts.
func (d *Daemon) forwardPrograms(ctx context.Context) {
	if d.forward == nil {
		return
	}
	go d.followLeader(ctx)
	d.forward.Run(ctx)
}

// followLeader tells the forwarder where the relay is whenever that may have
// changed, and when a lease runs out that nobody renews, which no event tells.
func (d *Daemon) followLeader(ctx context.Context) {
	for ctx.Err() == nil {
		t, ends := d.target()
		d.forward.Follow(t)
		d.awaitView(ctx, ends)
	}
}

func (d *Daemon) awaitView(ctx context.Context, ends time.Duration) {
	var expiry <-chan time.Time
	if ends > 0 {
		t := time.NewTimer(ends - d.opt.now() + time.Millisecond)
		defer t.Stop()
		expiry = t.C
	}
	select {
	case <-ctx.Done():
	case <-d.forward.wake:
	case <-expiry:
	}
}

// target is where the relay is as far as this member knows, and until when if
// nothing more is heard (boot time; 0: until something is). A member off the
// roster looks at the share seldom, while gossip tells it of a new leader at once.
func (d *Daemon) target() (t forward.Target, ends time.Duration) {
	if r, ok := d.holder(); ok {
		t = forward.Target{Epoch: r.Epoch, Station: r.Station, Host: r.IP, Port: r.Port}
		ends = d.driver.Status().HeadSeen + r.TTL
	}
	if row, ok := d.leading(); ok && row.Meta.Epoch >= t.Epoch {
		host, digits, err := net.SplitHostPort(row.Meta.Relay)
		port, perr := strconv.Atoi(digits)
		if err == nil && perr == nil {
			return forward.Target{Epoch: row.Meta.Epoch, Station: row.Meta.Station, Host: host, Port: port}, 0
		}
	}
	return t, ends
}

// leading is the other member that says, on our share, that it leads; the newest
// if two do.
func (d *Daemon) leading() (found gossip.Row, ok bool) {
	share := d.driver.Status().Share
	for _, r := range d.gossip.Members() {
		if r.Self || !r.Up() || r.Meta.Relay == "" || share != "" && r.Meta.Share != share {
			continue
		}
		if !ok || r.Meta.Epoch > found.Meta.Epoch {
			found, ok = r, true
		}
	}
	return found, ok
}

func (d *Daemon) forwardStats() (forward.Stats, bool) {
	if d.forward == nil {
		return forward.Stats{}, false
	}
	return d.forward.Stats(), true
}

func (d *Daemon) forwardStatus() *localapi.ForwardStatus {
	s, ok := d.forwardStats()
	if !ok {
		return nil
	}
	return &localapi.ForwardStatus{
		Port: d.cfg.ForwardPort, To: s.To, Open: s.Open, Held: s.Held, Fallback: s.Fallback, Problem: s.Problem,
	}
}
