package lanaddr

import (
	"fmt"
	"net/netip"
	"slices"
)

// offer is an address that a card has for the others.
type offer struct {
	addr netip.Addr
	card Card
}

// serves reports whether the system's choice of source stands for this offer:
// itself, or an address of the same card that is not offered, such as a VIP.
func (o offer) serves(source netip.Addr) bool {
	if !source.IsValid() || o.addr == source {
		return o.addr == source
	}
	card := slices.ContainsFunc(o.card.Addrs, func(a Addr) bool { return a.Addr() == source })
	return card && !slices.Contains(fine(o.card), source)
}

// offers lists what could be told to the others, in the order of the cards.
// Cards without a link count only while no other has an address.
func offers(cards []Card) []offer {
	linked := slices.DeleteFunc(slices.Clone(cards), func(c Card) bool { return c.NoLink })
	if out := offersOf(linked); len(out) > 0 {
		return out
	}
	return offersOf(cards)
}

func offersOf(cards []Card) (out []offer) {
	for _, c := range cards {
		if !c.Up {
			continue
		}
		for _, a := range fine(c) {
			if !slices.ContainsFunc(out, func(o offer) bool { return o.addr == a }) {
				out = append(out, offer{a, c})
			}
		}
	}
	return out
}

// fine are the addresses of a card without those that the system would not use
// while it has better ones. Of what is left, the one used towards the card's
// gateway is enough.
func fine(c Card) []netip.Addr {
	all := slices.DeleteFunc(slices.Clone(c.Addrs), func(a Addr) bool { return !usable(a.Addr()) })
	for _, worse := range []func(Addr) bool{
		func(a Addr) bool { return a.Skip },
		func(a Addr) bool { return a.Deprecated },
		func(a Addr) bool { return a.Addr() != c.Source && c.Source.IsValid() },
		func(a Addr) bool { return a.Bits() == 32 },
		func(a Addr) bool { return a.Secondary },
	} {
		if better := slices.DeleteFunc(slices.Clone(all), worse); len(better) > 0 {
			all = better
		}
	}
	var out []netip.Addr
	for _, a := range all {
		out = append(out, a.Addr())
	}
	return out
}

// Candidate is an address that could be told to the others.
type Candidate struct {
	Addr    netip.Addr
	Card    string
	Gateway bool // its card has an IPv4 default gateway
}

// String is for people: "192.168.1.10 (eth0, with gateway)".
func (c Candidate) String() string {
	text := fmt.Sprintf("%s (%s", c.Addr, c.Card)
	if c.Gateway {
		text += ", with gateway"
	}
	return text + ")"
}

// Candidates lists what Choose chooses from when no key names an address, in the
// order of the cards.
func (f Facts) Candidates() (out []Candidate) {
	for _, o := range offers(f.Cards) {
		out = append(out, Candidate{o.addr, o.card.Name, o.card.Gateway.IsValid()})
	}
	return out
}

// usable says whether other PCs of a LAN could reach an address.
func usable(a netip.Addr) bool {
	return a.Is4() && !a.IsLoopback() && !a.IsUnspecified() && !a.IsLinkLocalUnicast() && !a.IsMulticast()
}
