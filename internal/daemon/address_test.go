package daemon

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/lanaddr"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// pcCards is a PC whose cards a test changes.
type pcCards struct {
	addr  string
	err   error
	has   map[string]bool
	moved []string
	fails error
	note  []reason.Reason
}

func (p *pcCards) watch(told string) *addressWatch {
	return &addressWatch{
		told: told, find: func(context.Context) (string, error) { return p.addr, p.err },
		own: func(a string) bool { return p.has[a] }, note: func(why ...reason.Reason) { p.note = why },
		move: func(a string) error {
			if p.fails == nil {
				p.moved = append(p.moved, a)
			}
			return p.fails
		},
	}
}

func TestN1_AddressThatLeftIsReplacedAtTheFirstLook(t *testing.T) {
	p := &pcCards{addr: "192.168.9.21", has: map[string]bool{"192.168.9.21": true}}
	w := p.watch("192.168.9.20")
	w.look(t.Context())
	require.Equal(t, []string{"192.168.9.21"}, p.moved)
	require.Empty(t, p.note)
}

func TestN1_AmbiguousChoiceKeepsFromLeadingAndSaysWhy(t *testing.T) {
	p := &pcCards{err: lanaddr.ErrAmbiguous, has: map[string]bool{}}
	w := p.watch("192.168.9.20")
	w.look(t.Context())
	require.Empty(t, p.moved)
	require.Equal(t, []reason.Reason{{Code: reason.AddressLeft, Addr: "192.168.9.20", Detail: lanaddr.ErrAmbiguous.Error()}}, p.note)

	p.has["192.168.9.20"] = true // it came back
	w.look(t.Context())
	require.Empty(t, p.note)
}

func TestN1_SecondLookDecidesWhileTheOldAddressIsThere(t *testing.T) {
	p := &pcCards{addr: "10.0.0.9", has: map[string]bool{"192.168.9.20": true, "10.0.0.9": true}}
	w := p.watch("192.168.9.20")
	w.look(t.Context())
	require.Empty(t, p.moved, "a card that comes and goes")
	p.addr = "192.168.9.20"
	w.look(t.Context())
	p.addr = "10.0.0.9"
	w.look(t.Context())
	require.Empty(t, p.moved)
	w.look(t.Context())
	require.Equal(t, []string{"10.0.0.9"}, p.moved)
}

func TestN1_FailedMoveIsTriedAgain(t *testing.T) {
	p := &pcCards{addr: "192.168.9.21", has: map[string]bool{"192.168.9.21": true}, fails: errors.New("port taken")}
	w := p.watch("192.168.9.20")
	w.look(t.Context())
	require.Equal(t, "port taken", p.note[0].Detail)
	p.fails = nil
	w.look(t.Context())
	require.Equal(t, []string{"192.168.9.21"}, p.moved)
	require.Empty(t, p.note)
}

func TestN1_FixedAddressThatThisPCLacks(t *testing.T) {
	p := &pcCards{addr: "192.168.9.20", has: map[string]bool{}}
	w := p.watch("192.168.9.20") // GOSSIP_ADVERTISE names it for ever
	w.look(t.Context())
	require.Equal(t, []reason.Reason{{Code: reason.AddressForeign, Addr: "192.168.9.20"}}, p.note)
}

func TestN3_MembersOfTheLastRunAreTargets(t *testing.T) {
	at := netip.MustParseAddrPort("192.168.1.11:7946")
	b, err := gossip.EncodeRows([]gossip.Row{
		{ID: lease.ID{Node: nodeName(1), Run: "1111111111111111"}, Addr: at},
		{ID: lease.ID{Node: nodeName(2), Run: "2222222222222222"}, Addr: netip.MustParseAddrPort("192.168.1.20:7946"), Self: true},
	})
	require.NoError(t, err)
	p := &discovery{dir: t.TempDir(), fixed: []string{"10.0.0.7:7946"}}
	require.NoError(t, writeFile(p.rememberedPath(), b))
	_, aside := p.remembered()
	require.Empty(t, aside)
	require.Contains(t, p.targets(), at.String())
	require.Contains(t, p.targets(), "10.0.0.7:7946")
}
