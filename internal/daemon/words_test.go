package daemon

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/lease"
)

// While the share is full, whatever the arbiter makes of it, the text says full.
func TestExplain_FullShare(t *testing.T) {
	room := &fullness{share: "/s", say: func(bool, string) {}}
	refused := arbiter.Status{Role: arbiter.Ineligible, Note: arbiter.NoteDenied}
	full := "share full: " + lease.FullHint("/s")
	require.Equal(t, arbiter.NoteDenied, explain(refused, room))
	require.Equal(t, arbiter.NoteDenied, explain(refused, nil))

	_ = room.note(fmt.Errorf("create record 7: %w", lease.ErrFull))
	require.Equal(t, full, explain(refused, room))
	require.Equal(t, full, explain(arbiter.Status{}, room), "between two attempts")
	require.Equal(t, "role ineligible ("+full+")", room.words("role ineligible ("+arbiter.NoteDenied+")"))
	empty := arbiter.Status{Note: "empty", Head: lease.Entry{Rev: 34, Kind: lease.Unknown, Cause: "empty"}}
	require.Equal(t, full, explain(empty, room))
	require.Equal(t, "stopping", explain(arbiter.Status{Note: "stopping"}, room))

	_ = room.note(fmt.Errorf("create record 8: %w", lease.ErrDenied))
	require.Equal(t, arbiter.NoteDenied, explain(refused, room), "the last error counts")
	require.Contains(t, explain(empty, room), "created without a body")
}

func TestExplain_DamagedRecord(t *testing.T) {
	codec, err := lease.NewCodec("4711", "token-token-token", "")
	require.NoError(t, err)
	e := codec.Open("s", 1312, []byte("garbage"))
	s := arbiter.Status{Share: "s", Note: e.Cause, Head: e}
	require.True(t, damaged(e))
	require.Equal(t, "record 1312 (relay_leader.d/s/0000001312.lock) is damaged or was not written by floatrelay (it does not begin like a record): "+
		"nobody can take over for 20 s, then it is replaced; if it happens again find out what writes into LEASE_DIR", explain(s, nil))
	require.False(t, damaged(codec.Open("s", 1, nil)), "a body may be on its way")
	require.False(t, damaged(codec.Open("s", 1, make([]byte, 9))))
	wrong := lease.Entry{Rev: 3, Kind: lease.Unknown, Body: []byte("{"), Cause: "wrong MAC: its RELAY_TOKEN differs from ours (written by POS-01)"}
	require.False(t, damaged(wrong))
	require.Equal(t, wrong.Cause, explain(arbiter.Status{Note: wrong.Cause, Head: wrong}, nil))
}

func TestTwins(t *testing.T) {
	row := func(node, run, station, addr string, state gossip.State) gossip.Row {
		return gossip.Row{ID: lease.ID{Node: node, Run: run}, State: state, Addr: netip.MustParseAddrPort(addr), Meta: gossip.Meta{Station: station}}
	}
	rows := []gossip.Row{
		row("a", "1", "POS-01", "10.0.0.1:7946", gossip.Alive), row("b", "1", "pos-01", "10.0.0.2:7946", gossip.Alive),
		row("c", "1", "POS-03", "10.0.0.3:7946", gossip.Alive), row("c", "2", "POS-03", "10.0.0.3:7946", gossip.Alive),
		row("d", "1", "POS-03", "10.0.0.4:7946", gossip.Dead),
	}
	require.Equal(t, map[lease.ID]string{
		rows[0].ID: "STATION is also that of 10.0.0.2:7946: give each PC another",
		rows[1].ID: "STATION is also that of 10.0.0.1:7946: give each PC another",
	}, twins(rows), "neither a restart nor a PC that is off")
}
