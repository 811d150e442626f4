package lanaddr

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	lo     = `card "lo" 127.0.0.1/8` + "\n"
	lan    = `card "Ethernet" gateway=192.168.1.1 source=192.168.1.20 192.168.1.20/24` + "\n"
	bare   = `card "Ethernet" 192.168.1.20/24` + "\n" // a POS LAN without a gateway
	docker = `card "docker0" nolink 172.17.0.1/16` + "\n"
	busy   = `card "docker0" 172.17.0.1/16` + "\n" // a container runs
	vpn    = `card "VPN" gateway=10.8.0.1 source=10.8.0.2 10.8.0.2/24` + "\n"
	wifi   = `card "Wi-Fi" gateway=192.168.7.1 source=192.168.7.7 192.168.7.7/24` + "\n"
	phone  = `card "Ethernet 3" gateway=192.168.42.129 source=192.168.42.10 192.168.42.10/24` + "\n"
	apipa  = `card "Ethernet 2" 169.254.10.11/16` + "\n"
	near   = "member 192.168.1.11 from 192.168.1.20 onlink\n"
)

// The table of real PCs. What 'floatrelay doctor' prints of a PC's network is a
// row of it.
func TestChoose_RealPCs(t *testing.T) {
	for name, pc := range map[string]struct {
		facts   string
		current string // told at present
		want    string
		why     Why
		err     error
	}{
		"one card":                              {facts: lo + lan, want: "192.168.1.20", why: ByOnly},
		"N2 VIP /32 on the card":                {facts: lo + `card "eth0" gateway=192.168.1.1 source=192.168.1.20 192.168.1.20/24 192.168.1.200/32`, want: "192.168.1.20", why: ByOnly},
		"N2 VIP /32 first":                      {facts: lo + `card "eth0" 192.168.1.200/32 192.168.1.20/24`, want: "192.168.1.20", why: ByOnly},
		"N2 secondary":                          {facts: `card "eth0" gateway=192.168.1.1 source=192.168.1.20 192.168.1.20/24 192.168.1.21/24,secondary`, want: "192.168.1.20", why: ByOnly},
		"N2 secondary, no gateway":              {facts: `card "eth0" 192.168.1.20/24 192.168.1.21/24,secondary`, want: "192.168.1.20", why: ByOnly},
		"N2 deprecated after DHCP":              {facts: `card "eth0" gateway=192.168.1.1 192.168.1.20/24,deprecated 192.168.1.31/24`, want: "192.168.1.31", why: ByOnly},
		"N2 all deprecated":                     {facts: `card "eth0" 192.168.1.20/24,deprecated`, want: "192.168.1.20", why: ByOnly},
		"N2 SkipAsSource on Windows":            {facts: `card "Ethernet" gateway=192.168.1.1 192.168.1.5/24,skip 192.168.1.20/24`, want: "192.168.1.20", why: ByOnly},
		"N2 two networks on one card":           {facts: `card "eth0" gateway=192.168.9.1 source=192.168.9.21 192.168.9.21/24 10.99.0.20/24`, want: "192.168.9.21", why: ByOnly},
		"N2 VIP that the routes prefer":         {facts: `card "eth0" 192.168.1.20/24 192.168.1.200/32` + "\n" + wifi + "member 192.168.1.11 from 192.168.1.200 onlink", want: "192.168.1.20", why: ByMembers},
		"N2 prefsrc of the route":               {facts: `card "eth0" gateway=192.168.1.1 source=192.168.1.21 192.168.1.20/24 192.168.1.21/24,secondary`, want: "192.168.1.21", why: ByOnly},
		"N1 two left, no gateway, nobody known": {facts: `card "eth0" 192.168.9.21/24 10.99.0.20/24`, current: "192.168.9.20", err: ErrAmbiguous},
		"N1 two left, a member is known":        {facts: `card "eth0" 192.168.9.21/24 10.99.0.20/24` + "\nmember 192.168.9.11 from 192.168.9.21 onlink", current: "192.168.9.20", want: "192.168.9.21", why: ByMembers},
		"N1 changed while following":            {facts: `card "eth0" 192.168.9.31/24` + "\nmember 192.168.9.11 from 192.168.9.31 onlink", current: "192.168.9.20", want: "192.168.9.31", why: ByOnly},
		"N1 changed while alone":                {facts: lan + wifi + "member 192.168.1.11 from 192.168.7.7", current: "192.168.1.10", want: "192.168.7.7", why: ByMembers},
		"N1 still there, and another":           {facts: bare + `card "eth1" 10.0.0.3/24`, current: "10.0.0.3", want: "10.0.0.3", why: ByKeeping},
		"N3 cable and Wi-Fi, nobody known":      {facts: lan + wifi, err: ErrAmbiguous},
		"N3 cable and Wi-Fi, a member":          {facts: lan + wifi + near, want: "192.168.1.20", why: ByMembers},
		"N3 cable and Wi-Fi in one network":     {facts: lan + `card "Wi-Fi" gateway=192.168.1.1 192.168.1.77/24`, want: "192.168.1.20", why: ByGateway},
		"N3 Wi-Fi told, cable put in":           {facts: lan + wifi, current: "192.168.7.7", want: "192.168.7.7", why: ByKeeping},
		"N3 full VPN, a member":                 {facts: lan + vpn + near, want: "192.168.1.20", why: ByMembers},
		"N3 full VPN takes the file server":     {facts: lan + vpn + near + "share 10.1.0.5 from 10.8.0.2", want: "192.168.1.20", why: ByMembers},
		"N3 a member of old behind the VPN":     {facts: lan + vpn + near + "member 172.30.0.9 from 10.8.0.2", want: "192.168.1.20", why: ByMembers},
		"N3 full VPN, nobody known":             {facts: lan + vpn, err: ErrAmbiguous},
		"N3 site inside the VPN":                {facts: lan + vpn + "member 10.8.0.3 from 10.8.0.2 onlink", want: "10.8.0.2", why: ByMembers},
		"N3 split VPN without a gateway":        {facts: lan + `card "OpenVPN" 10.8.0.2/24`, want: "192.168.1.20", why: ByGateway},
		"N3 phone at USB has the only gateway":  {facts: bare + phone + near, want: "192.168.1.20", why: ByMembers},
		"N3 phone at USB, file server in LAN":   {facts: bare + phone + "share 192.168.1.5 from 192.168.1.20 onlink", want: "192.168.1.20", why: ByShare},
		"N3 phone at USB, nobody known":         {facts: bare + phone, want: "192.168.42.10", why: ByGateway},
		"N3 phone plugged in while running":     {facts: bare + phone, current: "192.168.1.20", want: "192.168.1.20", why: ByKeeping},
		"N3 own address remembered":             {facts: bare + phone + "member 192.168.42.10 from 192.168.42.10 onlink", current: "192.168.1.20", want: "192.168.1.20", why: ByKeeping},
		"cable out, Wi-Fi in":                   {facts: `card "Ethernet" nolink 192.168.1.20/24` + "\n" + wifi, want: "192.168.7.7", why: ByOnly},
		"cable out, nothing else":               {facts: `card "Ethernet" nolink 192.168.1.20/24`, want: "192.168.1.20", why: ByOnly},
		"POS LAN without gateway":               {facts: lo + docker + bare, want: "192.168.1.20", why: ByOnly},
		"POS LAN without gateway, docker runs":  {facts: lo + busy + bare, want: "192.168.1.20", why: ByOnly},
		"Hyper-V": {facts: `card "vEthernet (External)" gateway=192.168.1.1 source=192.168.1.20 192.168.1.20/24
			card "vEthernet (Default Switch)" 172.28.0.1/20`, want: "192.168.1.20", why: ByGateway},
		"Hyper-V, LAN without gateway": {facts: `card "vEthernet (External)" 192.168.1.20/24
			card "vEthernet (Default Switch)" 172.28.0.1/20` + "\n" + near, want: "192.168.1.20", why: ByMembers},
		"WSL and VirtualBox": {facts: bare + `card "vEthernet (WSL)" 172.20.0.1/20
			card "VirtualBox Host-Only Network" 192.168.56.1/24`, want: "192.168.1.20", why: ByOnly},
		"APIPA beside the LAN":         {facts: lan + apipa, want: "192.168.1.20", why: ByOnly},
		"APIPA only":                   {facts: lo + apipa, err: ErrNoAddress},
		"no card yet":                  {facts: lo, err: ErrNoAddress},
		"nothing at all":               {err: ErrNoAddress},
		"docker only, DHCP late":       {facts: lo + busy, err: ErrNoAddress},
		"a public address":             {facts: `card "eth0" gateway=203.0.113.1 source=203.0.113.9 203.0.113.9/24`, want: "203.0.113.9", why: ByOnly},
		"two LANs, no gateway":         {facts: bare + `card "B" 192.168.2.2/24`, err: ErrAmbiguous},
		"members in both LANs":         {facts: bare + `card "B" 192.168.2.2/24` + "\n" + near + "member 192.168.2.9 from 192.168.2.2 onlink", err: ErrAmbiguous},
		"members in both, server in B": {facts: bare + `card "B" 192.168.2.2/24` + "\n" + near + "member 192.168.2.9 from 192.168.2.2 onlink\nshare 192.168.2.5 from 192.168.2.2 onlink", want: "192.168.2.2", why: ByShare},
		"share on this very PC":        {facts: lan + busy + "share 127.0.0.1 from 127.0.0.1", want: "192.168.1.20", why: ByGateway},
	} {
		t.Run(name, func(t *testing.T) {
			f := parseFacts(t, pc.facts)
			if pc.current != "" {
				f.Current = ip(pc.current)
			}
			got, err := Choose(f)
			if pc.err != nil {
				require.ErrorIs(t, err, pc.err)
				require.ErrorContains(t, err, "GOSSIP_ADVERTISE")
				return
			}
			require.NoError(t, err)
			require.Equal(t, pc.want, got.Addr.String())
			require.Equal(t, pc.why, got.Why, "%v", got.Why)
			require.True(t, f.Own(got.Addr), "never an address that this PC lacks")
		})
	}
}

func TestChoose_Settings(t *testing.T) {
	for name, c := range map[string]struct {
		bind, advertise, want string
		err                   string
	}{
		"A03 bound to [::]":        {bind: "[::]", want: "192.168.1.20"},
		"A03 bound to 0.0.0.0":     {bind: "0.0.0.0", want: "192.168.1.20"},
		"A03 bound to link-local":  {bind: "169.254.3.4", err: "GOSSIP_ADVERTISE"},
		"A03 bound to IPv6":        {bind: "[fe80::1]", err: "must be IPv4"},
		"A03 bound to loopback":    {bind: "127.0.0.1", err: "GOSSIP_ADVERTISE"},
		"bound to a name":          {bind: "pos-01", err: `GOSSIP_BIND="pos-01"`},
		"bound to the LAN":         {bind: "192.168.1.20", want: "192.168.1.20"},
		"named":                    {advertise: "192.168.9.9", bind: "0.0.0.0", want: "192.168.9.9"},
		"named loopback (demo)":    {advertise: "127.0.0.2", want: "127.0.0.2"},
		"named 0.0.0.0":            {advertise: "0.0.0.0", err: "no other PC can reach it"},
		"named link-local":         {advertise: "169.254.1.1", err: "no other PC can reach it"},
		"named IPv6":               {advertise: "fe80::1", err: "must be IPv4"},
		"named badly":              {advertise: "pos-01", err: "not an IP address"},
		"bound with a blank value": {bind: "  ", want: "192.168.1.20"},
	} {
		t.Run(name, func(t *testing.T) {
			f := parseFacts(t, lo+lan+docker)
			f.Bind, f.Advertise = c.bind, c.advertise
			got, err := Choose(f)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got.Addr.String())
		})
	}
}
