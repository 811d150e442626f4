package gossip

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func iface(name string, gateway bool, addrs ...string) Iface {
	i := Iface{Name: name, Up: true, Gateway: gateway}
	for _, a := range addrs {
		i.Addrs = append(i.Addrs, ip(a))
	}
	return i
}

func TestChooseAddress(t *testing.T) {
	lo := iface("lo", false, "127.0.0.1", "::1")
	lan := iface("Ethernet", true, "fe80::1", "192.168.1.20")
	docker := iface("docker0", false, "172.17.0.1")
	vpn := iface("OpenVPN", false, "10.8.0.2")
	down := iface("Wi-Fi", true, "192.168.7.7")
	down.Up = false
	for name, c := range map[string]struct {
		bind, advertise string
		ifaces          []Iface
		routes          []Route
		want            string
		err             []string // parts of the text
	}{
		"A03 only IPv6 link-local":    {ifaces: []Iface{lo, iface("eth0", true, "fe80::5")}, err: []string{"no interface has an IPv4", "GOSSIP_ADVERTISE"}},
		"A03 bound to [::]":           {bind: "[::]", ifaces: []Iface{lo, lan}, want: "192.168.1.20"},
		"A03 bound to 0.0.0.0":        {bind: "0.0.0.0", ifaces: []Iface{lo, lan}, want: "192.168.1.20"},
		"A03 bound to link-local":     {bind: "169.254.3.4", ifaces: []Iface{lan}, err: []string{"169.254.3.4", "GOSSIP_ADVERTISE"}},
		"A03 bound to IPv6":           {bind: "[fe80::1]", ifaces: []Iface{lan}, err: []string{"must be IPv4"}},
		"A03 bound to loopback":       {bind: "127.0.0.1", ifaces: []Iface{lo, lan}, err: []string{"GOSSIP_ADVERTISE"}},
		"bound to a name":             {bind: "pos-01", ifaces: []Iface{lan}, err: []string{`GOSSIP_BIND="pos-01"`}},
		"bound to the LAN":            {bind: "192.168.1.20", ifaces: []Iface{lan, docker}, want: "192.168.1.20"},
		"A04 LAN, docker and VPN":     {ifaces: []Iface{lo, docker, vpn, lan}, want: "192.168.1.20"},
		"A04 only a public address":   {ifaces: []Iface{lo, iface("eth0", true, "203.0.113.9")}, want: "203.0.113.9"},
		"A04 VPN with a gateway too":  {ifaces: []Iface{lan, iface("VPN", true, "10.8.0.2")}, err: []string{"192.168.1.20 and 10.8.0.2", "GOSSIP_ADVERTISE", "VPN"}},
		"A04 ambiguous, but routed":   {ifaces: []Iface{lan, iface("VPN", true, "10.8.0.2")}, routes: []Route{{"fs", ip("192.168.1.20")}, {"peer", ip("192.168.1.20")}}, want: "192.168.1.20"},
		"A04 routes disagree":         {ifaces: []Iface{lan, vpn}, routes: []Route{{"fs", ip("10.8.0.2")}, {"peer", ip("192.168.1.20")}}, err: []string{"10.8.0.2 and 192.168.1.20"}},
		"A04 nothing but docker":      {ifaces: []Iface{lo, docker}, err: []string{"only virtual switches", "docker0: 172.17.0.1"}},
		"A04 cable out":               {ifaces: []Iface{lo, docker, down}, err: []string{"only virtual switches"}},
		"A04 two LANs, no gateway":    {ifaces: []Iface{iface("A", false, "192.168.1.2"), iface("B", false, "192.168.2.2")}, err: []string{"192.168.1.2 and 192.168.2.2"}},
		"LAN without gateway":         {ifaces: []Iface{lo, docker, iface("Ethernet", false, "192.168.1.20")}, want: "192.168.1.20"},
		"LAN without gateway, routed": {ifaces: []Iface{docker, iface("Ethernet", false, "192.168.1.20"), iface("Internet", true, "10.0.0.2")}, routes: []Route{{"fs", ip("192.168.1.20")}}, want: "192.168.1.20"},
		"share on this very PC":       {ifaces: []Iface{lo, lan, docker}, routes: []Route{{"localhost", ip("127.0.0.1")}}, want: "192.168.1.20"},
		"A05 Hyper-V": {ifaces: []Iface{
			iface("Ethernet", false, "fe80::2"),
			iface("vEthernet (External)", true, "192.168.1.20"),
			iface("vEthernet (Default Switch)", false, "172.28.0.1"),
		}, want: "192.168.1.20"},
		"A05 Hyper-V, LAN without gateway, routed": {ifaces: []Iface{
			iface("vEthernet (External)", false, "192.168.1.20"),
			iface("vEthernet (Default Switch)", false, "172.28.0.1"),
		}, routes: []Route{{"fs", ip("192.168.1.20")}}, want: "192.168.1.20"},
		"named":                 {advertise: "192.168.9.9", bind: "0.0.0.0", ifaces: []Iface{lan}, want: "192.168.9.9"},
		"named loopback (demo)": {advertise: "127.0.0.2", want: "127.0.0.2"},
		"named 0.0.0.0":         {advertise: "0.0.0.0", err: []string{"no other PC can reach it"}},
		"named link-local":      {advertise: "169.254.1.1", err: []string{"no other PC can reach it"}},
		"named IPv6":            {advertise: "fe80::1", err: []string{"must be IPv4"}},
		"named badly":           {advertise: "pos-01", err: []string{"not an IP address"}},
		"nothing at all":        {err: []string{"none is up"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ChooseAddress(c.bind, c.advertise, c.ifaces, c.routes)
			for _, part := range c.err {
				require.ErrorContains(t, err, part)
			}
			if c.err == nil {
				require.NoError(t, err)
				require.Equal(t, c.want, got.String())
			}
		})
	}
}

func TestFindAddress_OnThisMachine(t *testing.T) {
	a, err := FindAddress(context.Background(), "", "127.0.0.3", []string{"127.0.0.1"})
	require.NoError(t, err)
	require.Equal(t, "127.0.0.3", a.String())

	ifs, err := Interfaces()
	require.NoError(t, err)
	found := false
	for _, i := range ifs {
		for _, a := range i.Addrs {
			found = found || a.IsLoopback()
		}
	}
	require.True(t, found, "loopback is listed, if never chosen")

	routes := routesTo(context.Background(), []string{"127.0.0.1:445", "127.0.0.1", "no.such.host.invalid"})
	require.Equal(t, []Route{{"127.0.0.1", ip("127.0.0.1")}, {"127.0.0.1", ip("127.0.0.1")}}, routes)
}

func TestNew_RefusesConfigurations(t *testing.T) {
	busy, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	for name, c := range map[string]struct {
		change func(*Config)
		text   string
	}{
		"empty token":       {func(c *Config) { c.Token = "" }, "RELAY_TOKEN is empty"},
		"no KMSN":           {func(c *Config) { c.KMSN = "" }, "KMSN is empty"},
		"no run":            {func(c *Config) { c.Self.Run = "" }, "run id is empty"},
		"slash in node":     {func(c *Config) { c.Self.Node = "a/b" }, "slash"},
		"port out of range": {func(c *Config) { c.Port = 70000 }, "GOSSIP_PORT"},
		"address unset":     {func(c *Config) { c.AdvertiseAddr = "" }, "GOSSIP_ADVERTISE"},
		"address ::":        {func(c *Config) { c.AdvertiseAddr = "::" }, "IPv4"},
		"bind is a name":    {func(c *Config) { c.BindAddr = "pos" }, "GOSSIP_BIND"},
		"port taken":        {func(c *Config) { c.Port = busy.Addr().(*net.TCPAddr).Port }, "GOSSIP_PORT"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(1)
			cfg.AdvertiseAddr, cfg.BindAddr = "127.0.0.1", "127.0.0.1"
			c.change(&cfg)
			_, err := New(cfg, &recorder{})
			require.ErrorContains(t, err, c.text)
		})
	}
}

func TestFindAddress_ChoosesOrSaysWhy(t *testing.T) {
	a, err := FindAddress(context.Background(), "", "", nil)
	if err != nil {
		require.ErrorContains(t, err, "GOSSIP_ADVERTISE")
		return
	}
	require.True(t, usable(a))
}
