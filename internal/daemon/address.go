package daemon

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/lanaddr"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

const (
	// addressEvery is how often the host's address is looked at: a DHCP change
	// must not leave a leader that nobody can reach.
	addressEvery = 3 * time.Second
	// routesPatience bounds looking names up for it, filesPatience reading the
	// members' files before gossip runs.
	routesPatience = 3 * time.Second
	filesPatience  = 3 * time.Second
)

// findAddress chooses the address the others are told. The first time it asks
// the share who the others are, if more than one address is possible and the
// routes to nobody tell.
func (d *Daemon) findAddress(ctx context.Context) (string, error) {
	c, several, err := d.chooseAddress(ctx)
	unsure := errors.Is(err, lanaddr.ErrAmbiguous) || err == nil && several && c.Why < lanaddr.ByKeeping
	if unsure && d.gossip == nil {
		d.readFirst(ctx)
		c, _, err = d.chooseAddress(ctx)
	}
	if err != nil {
		return "", err
	}
	return c.Addr.String(), nil
}

func (d *Daemon) chooseAddress(ctx context.Context) (c lanaddr.Choice, several bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, routesPatience)
	defer cancel()
	f := lanaddr.Facts{Bind: d.cfg.GossipBind, Advertise: d.cfg.GossipAdvertise}
	if now := d.addr.Load(); now != nil {
		f.Current, _ = netip.ParseAddr(*now)
	}
	if f.Advertise == "" {
		if f, err = lanaddr.Find(ctx, f, d.cfg.ShareHost(), d.found.targets()); err != nil {
			return c, false, err
		}
	}
	c, err = lanaddr.Choose(f)
	return c, len(f.Candidates()) > 1, err
}

// readFirst reads some members' files on the share. One that hangs keeps a
// goroutine, and nothing else.
func (d *Daemon) readFirst(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, filesPatience)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		share, err := OpenShare(d.cfg.LeaseDir, string(d.cfg.SMBPassword))
		if err != nil {
			return
		}
		chain := lease.NewChain(share)
		list, err := chain.List(ctx)
		if err != nil || list.Share == "" {
			return
		}
		var chosen []string
		members, _, err := chain.PickMembers(ctx, list.Share, func(nodes []string) []string {
			for _, n := range nodes {
				if n != d.self.Node && len(chosen) < filesRound {
					chosen = append(chosen, n)
				}
			}
			return chosen
		})
		if err == nil {
			d.found.took(chosen, members, d.cfg.KMSN, time.Now())
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// ownAddress reports whether a card of this PC has an address; yes where that
// cannot be found out.
func ownAddress(addr string) bool {
	a, err := netip.ParseAddr(addr)
	cards, err2 := lanaddr.Cards()
	return err != nil || err2 != nil || lanaddr.Facts{Cards: cards}.Own(a)
}

// addressNote is why a PC may not lead whose address is not its own, or nothing. err
// is why no other one was chosen.
func addressNote(addr string, own bool, err error) []reason.Reason {
	switch {
	case own:
		return nil
	case err != nil:
		return []reason.Reason{{Code: reason.AddressLeft, Addr: addr, Detail: err.Error()}}
	}
	return []reason.Reason{{Code: reason.AddressForeign, Addr: addr}}
}

// addressWatch decides at each look what to do about this PC's address.
type addressWatch struct {
	find func(context.Context) (string, error)
	own  func(addr string) bool
	move func(addr string) error
	note func(why ...reason.Reason) // why this PC may not lead, or nothing

	told string // what the others know
	next string // a better one, seen at the last look
}

// look moves at once from an address that has left this PC. From one that it
// still has it moves when two looks agree: a card may come and go. While nothing
// can be chosen it stays, and does not lead with an address that it lacks.
func (w *addressWatch) look(ctx context.Context) {
	addr, err := w.find(ctx)
	own := w.own(w.told)
	seen := w.next
	w.next = ""
	switch {
	case err != nil || addr == w.told:
	case own && addr != seen:
		w.next = addr
	default:
		if err = w.move(addr); err == nil {
			w.told, own = addr, w.own(addr)
		}
	}
	w.note(addressNote(w.told, own, err)...)
}

// followAddress moves this member when its host's address changes.
func (d *Daemon) followAddress(ctx context.Context) {
	w := addressWatch{find: d.opt.find, own: d.opt.own, told: d.address(), move: d.moveTo,
		note: func(why ...reason.Reason) { d.notes.set("address", why...) }}
	for sleep(ctx, addressEvery) {
		w.look(ctx)
	}
}

func (d *Daemon) moveTo(addr string) error {
	if err := d.gossip.SetAddress(addr); err != nil {
		d.log.Warn("cannot tell the others the new address", zap.String("address", addr), zap.Error(err))
		return err
	}
	d.addr.Store(&addr)
	d.post(arbiter.Moved{IP: addr})
	return nil
}
