package lanaddr

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Card is one network interface.
type Card struct {
	Name    string
	Up      bool
	NoLink  bool       // up, but nothing is connected to it
	Gateway netip.Addr // of an IPv4 default route, if it has one
	Source  netip.Addr // what the system uses towards that gateway
	Addrs   []Addr
}

// Addr is one address of a card.
type Addr struct {
	netip.Prefix
	Deprecated bool // valid, but no longer to be used: DHCP gave another
	Secondary  bool // on Linux: not the first one of its network
	Skip       bool // the system never uses it of itself: SkipAsSource, host scope
}

// Route is what the system would use towards one target.
type Route struct {
	Target string
	Member bool // another PC of the site; else the file server
	Source netip.Addr
	// OnLink: the target is in a network of the card, behind no router.
	OnLink bool
}

// Facts are everything that Choose goes by.
type Facts struct {
	Bind, Advertise string     // GOSSIP_BIND and GOSSIP_ADVERTISE, or empty
	Current         netip.Addr // told to the others at present, if any
	Cards           []Card
	Routes          []Route
}

// Own reports whether a card of this PC has the address, whatever its state.
func (f Facts) Own(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || slices.ContainsFunc(f.Cards, func(c Card) bool {
		return slices.ContainsFunc(c.Addrs, func(x Addr) bool { return x.Addr() == a })
	})
}

// String writes one line per fact, without the settings.
func (f Facts) String() string {
	var b strings.Builder
	for _, c := range f.Cards {
		fmt.Fprintf(&b, "card %q%s\n", c.Name, c.words())
	}
	for _, r := range f.Routes {
		fmt.Fprintf(&b, "%s\n", r)
	}
	return b.String()
}

func (c Card) words() string {
	var b strings.Builder
	switch {
	case !c.Up:
		b.WriteString(" down")
	case c.NoLink:
		b.WriteString(" nolink")
	}
	if c.Gateway.IsValid() {
		b.WriteString(" gateway=" + c.Gateway.String())
	}
	if c.Source.IsValid() {
		b.WriteString(" source=" + c.Source.String())
	}
	for _, a := range c.Addrs {
		b.WriteString(" " + a.String())
	}
	return b.String()
}

// String is "192.168.1.20/24", with what is special about it behind commas.
func (a Addr) String() string {
	s := a.Prefix.String()
	for _, x := range []struct {
		is   bool
		word string
	}{{a.Deprecated, "deprecated"}, {a.Secondary, "secondary"}, {a.Skip, "skip"}} {
		if x.is {
			s += "," + x.word
		}
	}
	return s
}

// String is "member 192.168.1.11 from 192.168.1.20 onlink".
func (r Route) String() string {
	s := "share "
	if r.Member {
		s = "member "
	}
	s += r.Target + " from " + r.Source.String()
	if r.OnLink {
		s += " onlink"
	}
	return s
}
