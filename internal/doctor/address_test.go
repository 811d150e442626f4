package doctor

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/config"
)

// What an address was chosen from is told when there was something to choose.
func TestAddress_ChoiceAndCandidates(t *testing.T) {
	lan, vpn := netip.MustParseAddr("192.168.1.10"), netip.MustParseAddr("10.8.0.2")
	card := gossip.Iface{Name: "Ethernet", Up: true, Gateway: true, Addrs: []netip.Addr{lan, netip.MustParseAddr("fe80::1")}}
	tunnel := gossip.Iface{Name: "VPN", Up: true, Addrs: []netip.Addr{vpn}}
	out := gossip.Iface{Name: "WLAN", Addrs: []netip.Addr{netip.MustParseAddr("192.168.9.9")}}
	lo := gossip.Iface{Name: "lo", Up: true, Addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}
	for name, tc := range map[string]struct {
		cfg    config.Config
		addr   netip.Addr
		ifaces []gossip.Iface
		want   string
	}{
		"one":       {config.Config{}, lan, []gossip.Iface{lo, card, out}, ""},
		"two":       {config.Config{}, lan, []gossip.Iface{lo, card, tunnel}, ", chosen by itself, from the routes and gateways of this PC; it also has 10.8.0.2 (VPN)"},
		"bind":      {config.Config{GossipBind: "192.168.1.10"}, lan, []gossip.Iface{card, tunnel}, ", chosen by GOSSIP_BIND; it also has 10.8.0.2 (VPN)"},
		"advertise": {config.Config{GossipBind: "192.168.1.10", GossipAdvertise: "10.8.0.2"}, vpn, []gossip.Iface{card, tunnel}, ", chosen by GOSSIP_ADVERTISE; it also has 192.168.1.10 (Ethernet, with gateway)"},
		"unknown":   {config.Config{}, lan, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, choiceOf(tc.cfg, tc.addr, tc.ifaces))
		})
	}
}
