package gossip

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// A site with the longest names, notes and records sends no packet that a path
// with an MTU of 1,280 would lose.
func TestN8_PacketsPassAnMTUOf1280(t *testing.T) {
	require.Less(t, MaxMessage+18+29+5+1, maxDatagram)
	require.Less(t, 2+1+maxNode+1+maxRun+maxProbe+18+29+5+1, maxDatagram)
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		largest := 0
		s.net.Tap(func(_, _ netip.AddrPort, b []byte) { largest = max(largest, len(b)) })
		var nodes []*node
		for i := range 8 {
			cfg := config(i)
			cfg.Self = lease.ID{Node: strings.Repeat("n", maxNode-1) + string(rune('a'+i)), Run: strings.Repeat("r", maxRun)}
			cfg.Meta.Note = strings.Repeat("\\", MaxMeta)
			nodes = append(nodes, s.start(cfg, i, 0))
		}
		defer closeAll(nodes...)
		see(t, 20*time.Second, nodes...)
		body := bytes.Repeat([]byte("x"), lease.MaxBody)
		for num := range uint64(40) {
			body[0] = byte(num) // never brief
			require.NoError(t, nodes[0].SendBeat(nodes[0].IDs(), num+1, bytes.Clone(body)))
			m := nodes[num%8].cfg.Meta
			m.Role = "client"
			m.Epoch = num
			nodes[num%8].SetMeta(m)
			time.Sleep(250 * time.Millisecond)
		}
		require.Len(t, nodes[1].rec.gotBeats(), 40)
		require.Greater(t, largest, MaxMessage, "the longest message was sent")
		require.LessOrEqual(t, largest, maxDatagram)
	})
}
