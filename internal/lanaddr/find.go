package lanaddr

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// lookUpTimeout bounds looking up one target's name.
const lookUpTimeout = 2 * time.Second

// Find fills in what Choose goes by: the cards of this PC and its routes to the
// members and the share's host ("host" or "host:port" each). Names are looked up
// side by side, and those that cannot be are left out. Nothing is sent to the
// targets.
func Find(ctx context.Context, f Facts, share string, members []string) (Facts, error) {
	var err error
	if f.Cards, err = Cards(); err != nil {
		return f, fmt.Errorf("list network interfaces: %w", err)
	}
	f.Routes = nil
	targets := []Route{}
	if share != "" {
		targets = append(targets, Route{Target: share})
	}
	for _, m := range members {
		targets = append(targets, Route{Target: m, Member: true})
	}
	var wg sync.WaitGroup
	for i := range targets {
		wg.Go(func() { targets[i] = route(ctx, targets[i], f.Cards) })
	}
	wg.Wait()
	for _, r := range targets {
		if r.Source.IsValid() {
			f.Routes = append(f.Routes, r)
		}
	}
	return f, nil
}

// route asks the system which source address it would use, by connecting a UDP
// socket that never sends.
func route(ctx context.Context, r Route, cards []Card) Route {
	if h, _, err := net.SplitHostPort(r.Target); err == nil {
		r.Target = h
	}
	d := net.Dialer{Timeout: lookUpTimeout}
	c, err := d.DialContext(ctx, "udp4", net.JoinHostPort(strings.Trim(r.Target, "[]"), "9"))
	if err != nil {
		return r
	}
	defer c.Close()
	from, to := addrOf(c.LocalAddr()), addrOf(c.RemoteAddr())
	r.Source, r.Target = from, to.String()
	for _, card := range cards {
		for _, a := range card.Addrs {
			if a.Addr() == from || card.Up && card.Holds(from) {
				r.OnLink = r.OnLink || a.Contains(to)
			}
		}
	}
	return r
}

// Holds reports whether the card has the address.
func (c Card) Holds(ip netip.Addr) bool {
	for _, a := range c.Addrs {
		if a.Addr() == ip {
			return true
		}
	}
	return false
}

func addrOf(a net.Addr) netip.Addr {
	u, ok := a.(*net.UDPAddr)
	if !ok {
		return netip.Addr{}
	}
	return u.AddrPort().Addr().Unmap()
}

// Cards lists this PC's interfaces with their addresses and gateways.
func Cards() ([]Card, error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	more, err := details()
	if err != nil {
		return nil, err
	}
	var out []Card
	for _, i := range ifs {
		up := i.Flags&net.FlagUp != 0
		c := Card{Name: i.Name, Up: up, NoLink: up && i.Flags&net.FlagRunning == 0, Gateway: more.gateways[i.Index]}
		addrs, err := i.Addrs()
		if err != nil {
			continue // gone meanwhile
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err != nil || !p.Addr().Unmap().Is4() {
				continue
			}
			x := more.addrs[p.Addr().Unmap()]
			x.Prefix = netip.PrefixFrom(p.Addr().Unmap(), p.Bits())
			c.Addrs = append(c.Addrs, x)
		}
		if c.Gateway.IsValid() {
			c.Source = c.towards(c.Gateway)
		}
		out = append(out, c)
	}
	return out, nil
}

// towards is what the system uses of this card towards its gateway.
func (c Card) towards(gateway netip.Addr) netip.Addr {
	r := route(context.Background(), Route{Target: gateway.String()}, nil)
	if !c.Holds(r.Source) {
		return netip.Addr{} // through another card: two have one network
	}
	return r.Source
}

// detail is what package net does not tell.
type detail struct {
	gateways map[int]netip.Addr // by the index of the interface
	addrs    map[netip.Addr]Addr
}
