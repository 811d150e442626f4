package relayproc

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// checkOwner makes sure that whoever listens belongs to our tree. Listeners
// already looked up are not looked up again.
func (h *health) checkOwner(ctx context.Context) error {
	var all []uint64
	main := portOwners{}
	for _, port := range h.spec.ports() {
		p := portOwners{}
		for _, l := range listeners(port) {
			ours, err := h.sort(ctx, &p, l)
			if err != nil {
				return err
			}
			if ours {
				all = append(all, l.key)
			}
		}
		if p.foreign6 != nil && p.own6 && !p.own4 {
			return p.foreign6
		}
		if port == h.spec.Port {
			main = p
		}
	}
	if !main.own4 && !main.own6 {
		return main.missing(h.spec)
	}
	h.known = all
	return nil
}

// portOwners is who listens on one port, as far as the relay's address is
// concerned.
type portOwners struct {
	own4, own6 bool   // ours on the address itself, or on every IPv6 address
	elsewhere  string // an address somebody listens on, which is not ours to use
	// Somebody else on every IPv6 address. He gets no IPv4 connection while ours
	// has the IPv4 address; the guard saw that it could have it.
	foreign6 *foreignError
}

// sort finds out what the listener l means to the relay.
func (h *health) sort(ctx context.Context, p *portOwners, l listener) (ours bool, err error) {
	if !l.covers(h.spec.Addr) {
		p.elsewhere = l.ip.String()
		return false, nil
	}
	if !slices.Contains(h.known, l.key) {
		err = h.checkListener(ctx, l)
	}
	switch perhaps := l.perhaps(h.spec.Addr); {
	case perhaps && errors.As(err, &p.foreign6):
		return false, nil
	case err != nil:
		return false, err
	case perhaps:
		p.own6 = true
	default:
		p.own4 = true
	}
	return true, nil
}

// missing says why a relay that runs cannot be reached.
func (p portOwners) missing(spec Spec) error {
	if p.elsewhere != "" {
		return fmt.Errorf("port %d is listened on at %s only, not at %s", spec.Port, p.elsewhere, spec.Addr)
	}
	return fmt.Errorf("nothing listens on port %d", spec.Port)
}
