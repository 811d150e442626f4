package lanaddr

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseRoutes(t *testing.T) {
	const table = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	0101A8C0	0003	0	0	100	00000000	0	0	0
eth0	00000000	0201A8C0	0003	0	0	200	00000000	0	0	0
eth0	0001A8C0	00000000	0001	0	0	100	00FFFFFF	0	0	0
tun0	00000000	01000A0A	0003	0	0	50	00000080	0	0	0
wg0	00000000	00000000	0001	0	0	0	00000000	0	0	0
eth1	00000000	0102A8C0	0002	0	0	0	00000000	0	0	0
short line
`
	require.Equal(t, map[string]netip.Addr{"eth0": fromKernel(0x0101A8C0)}, parseRoutes(table))
	require.Equal(t, "192.168.1.1", fromKernel(0x0101A8C0).String(), "on the little-endian machines that tests run on")
}
