package daemon

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
	"github.com/convertfw/floatrelay/lease"
)

// While the share is full, whatever the arbiter makes of it, full is what is said.
func TestExplain_FullShare(t *testing.T) {
	room := &fullness{share: "/s", say: func(bool, reason.Reason, ...reason.Reason) {}}
	denied, empty := reason.Of(reason.ShareDenied), []reason.Reason{{Code: reason.RecordEmpty, Rev: 34}}
	full := []reason.Reason{{Code: reason.ShareFull, Path: "/s"}}
	require.Equal(t, "share full: "+lease.FullHint("/s"), words.English.All(full))
	require.Equal(t, denied, room.explain(denied))
	require.Equal(t, denied, (*fullness)(nil).explain(denied))

	_ = room.note(fmt.Errorf("create record 7: %w", lease.ErrFull))
	require.Equal(t, full, room.explain(denied))
	require.Equal(t, full, room.explain(nil), "between two attempts")
	require.Equal(t, full, room.replace(denied), "in a line of the log")
	require.Empty(t, room.replace(nil), "a line without a reason gets none")
	require.Equal(t, full, room.explain(empty))
	require.Equal(t, reason.Of(reason.ShareDenied), denied, "the arbiter's own is not changed")
	require.Equal(t, reason.Of(reason.Stopping), room.explain(reason.Of(reason.Stopping)))

	_ = room.note(fmt.Errorf("create record 8: %w", lease.ErrDenied))
	require.Equal(t, denied, room.explain(denied), "the last error counts")
	require.Equal(t, empty, room.explain(empty))
}

func TestDamaged(t *testing.T) {
	codec, err := lease.NewCodec("4711", "token-token-token", "")
	require.NoError(t, err)
	other, err := lease.NewCodec("4711", "another-token-another", "")
	require.NoError(t, err)
	require.True(t, damaged(codec.Open("s", 1312, []byte("garbage"))))
	require.False(t, damaged(codec.Open("s", 1, nil)), "a body may be on its way")
	require.False(t, damaged(codec.Open("s", 1, make([]byte, 9))))
	body, err := other.Seal(lease.Record{
		Share: "s", KMSN: "4711", Station: "POS-01", Rev: 3, Epoch: 1, Owner: lease.ID{Node: "n", Run: "r"}, State: lease.Held,
		IP: "10.0.0.1", Port: 9530, TTL: 10 * time.Second, Fence: time.Second,
	})
	require.NoError(t, err)
	e := codec.Open("s", 3, body)
	require.Equal(t, lease.OtherToken, e.Flaw)
	require.Equal(t, "POS-01", e.Named)
	require.False(t, damaged(e))
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
	require.Equal(t, map[lease.ID][]reason.Reason{
		rows[0].ID: {{Code: reason.StationTwice, Detail: "10.0.0.2:7946"}},
		rows[1].ID: {{Code: reason.StationTwice, Detail: "10.0.0.1:7946"}},
	}, twins(rows), "neither a restart nor a PC that is off")
}
