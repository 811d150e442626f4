package doctor

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/lanaddr"
)

// What an address was chosen from is told when there was something to choose.
func TestAddress_ChoiceAndCandidates(t *testing.T) {
	at := func(s string) lanaddr.Addr { return lanaddr.Addr{Prefix: netip.MustParsePrefix(s)} }
	lan, vpn := at("192.168.1.10/24"), at("10.8.0.2/24")
	card := lanaddr.Card{Name: "Ethernet", Up: true, Gateway: netip.MustParseAddr("192.168.1.1"), Addrs: []lanaddr.Addr{lan}}
	tunnel := lanaddr.Card{Name: "VPN", Up: true, Addrs: []lanaddr.Addr{vpn}}
	out := lanaddr.Card{Name: "WLAN", Addrs: []lanaddr.Addr{at("192.168.9.9/24")}}
	for name, tc := range map[string]struct {
		addr  lanaddr.Addr
		why   lanaddr.Why
		cards []lanaddr.Card
		want  string
	}{
		"one":       {lan, lanaddr.ByOnly, []lanaddr.Card{card, out}, ""},
		"two":       {lan, lanaddr.ByMembers, []lanaddr.Card{card, tunnel}, ", chosen because the other PCs are reached from it; it also has 10.8.0.2 (VPN)"},
		"bind":      {lan, lanaddr.ByBind, []lanaddr.Card{card, tunnel}, ", chosen by GOSSIP_BIND; it also has 10.8.0.2 (VPN)"},
		"advertise": {vpn, lanaddr.ByAdvertise, []lanaddr.Card{card, tunnel}, ", chosen by GOSSIP_ADVERTISE; it also has 192.168.1.10 (Ethernet, with gateway)"},
		"unknown":   {lan, lanaddr.ByOnly, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, choiceOf(lanaddr.Facts{Cards: tc.cards}, lanaddr.Choice{Addr: tc.addr.Addr(), Why: tc.why}))
		})
	}
}
