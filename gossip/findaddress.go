package gossip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// routeTimeout bounds looking up one target's name.
const routeTimeout = 2 * time.Second

// FindAddress is ChooseAddress with this PC's interfaces and its routes to the
// targets: the share's host and the peers ("host" or "host:port"). Names that
// cannot be looked up are left out. Nothing is sent to the targets.
func FindAddress(ctx context.Context, bind, advertise string, targets []string) (netip.Addr, error) {
	if advertise != "" {
		return ChooseAddress(bind, advertise, nil, nil)
	}
	ifaces, err := Interfaces()
	if err != nil {
		return netip.Addr{}, err
	}
	return ChooseAddress(bind, "", ifaces, routesTo(ctx, targets))
}

// Interfaces lists this PC's interfaces.
func Interfaces() ([]Iface, error) {
	ifs, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	gateways, err := gatewayIndexes(ifs)
	if err != nil {
		return nil, fmt.Errorf("list gateways: %w", err)
	}
	var out []Iface
	for _, i := range ifs {
		f := Iface{Name: i.Name, Up: i.Flags&net.FlagUp != 0, Gateway: gateways[i.Index]}
		addrs, err := i.Addrs()
		if err != nil {
			continue // gone meanwhile
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				f.Addrs = append(f.Addrs, p.Addr().Unmap())
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// routesTo asks the system which source address it would use, by connecting
// UDP sockets that never send.
func routesTo(ctx context.Context, targets []string) []Route {
	found := make([]Route, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			host, _, err := splitPort(t, 0)
			if err != nil {
				return
			}
			d := net.Dialer{Timeout: routeTimeout}
			c, err := d.DialContext(ctx, "udp4", net.JoinHostPort(host, "9"))
			if err != nil {
				return
			}
			defer c.Close()
			if a, ok := c.LocalAddr().(*net.UDPAddr); ok {
				found[i] = Route{Target: host, Source: a.AddrPort().Addr().Unmap()}
			}
		})
	}
	wg.Wait()
	out := found[:0]
	for _, r := range found {
		if r.Source.IsValid() {
			out = append(out, r)
		}
	}
	return out
}
