package gossip

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/lease"
)

func mlNode(i lease.ID, addr string) *memberlist.Node {
	return &memberlist.Node{Name: i.String(), Addr: net.ParseIP(addr), Port: 7946, Meta: Meta{Station: "S"}.Encode()}
}

func TestTable_NoticesEveryChangeOnce(t *testing.T) {
	n := 0
	tb := newTable(func() { n++ }, nil)
	step := func(want int, what string) {
		t.Helper()
		require.Equal(t, want, n, what)
		n = 0
	}
	name := id(1).String()
	tb.update(mlNode(id(1), "10.0.0.1"), Alive, false, 1)
	step(1, "claimed")
	tb.prove(id(1))
	step(1, "joined")
	tb.prove(id(1))
	step(0, "asked anew and alive still")
	tb.heard(name, time.Millisecond)
	step(0, "a sign of life of a live member is no news")
	tb.suspect(name)
	tb.suspect(name)
	step(1, "suspect")
	tb.heard(name, 0)
	step(1, "alive after all")
	tb.update(mlNode(id(1), "10.0.0.1"), Dead, false, 1)
	step(1, "dead")
	tb.heard(name, 0)
	tb.suspect(name)
	step(0, "only memberlist brings back the dead")
	tb.update(&memberlist.Node{Name: "no-slash"}, Alive, false, 1)
	step(0, "a stranger's name")
	require.Len(t, tb.list(), 1)
	require.Equal(t, time.Millisecond, tb.list()[0].RTT)
}

func TestTable_GoodbyeInEitherOrder(t *testing.T) {
	tb := newTable(func() {}, nil)
	name := id(1).String()
	state := func() State { return tb.list()[0].State }
	alive := func() { tb.update(mlNode(id(1), "10.0.0.1"), Alive, false, 1); tb.prove(id(1)) }
	dead := func() { tb.update(mlNode(id(1), "10.0.0.1"), Dead, false, 1) }
	alive()
	tb.bye(name)
	dead()
	require.Equal(t, Left, state())
	alive()
	dead()
	require.Equal(t, Dead, state(), "an old goodbye does not count")
	tb.bye(name)
	require.Equal(t, Left, state())
	alive()
	dead()
	tb.now = func() time.Time { return time.Now().Add(time.Minute) }
	tb.bye(name)
	require.Equal(t, Dead, state(), "a goodbye replayed later changes nothing")
	tb.bye("nobody/here")
	require.Len(t, tb.list(), 1)
}

func TestTable_UnreadableMetadataIsShown(t *testing.T) {
	tb := newTable(func() {}, nil)
	n := mlNode(id(1), "10.0.0.1")
	n.Meta = []byte("\x00\xff")
	tb.update(n, Alive, false, 1)
	tb.prove(id(1))
	require.Equal(t, Alive, tb.list()[0].State)
	require.Contains(t, tb.list()[0].Meta.Note, "cannot be read")
}

func TestTable_LateWordOfAnOldMemberlistIsIgnored(t *testing.T) {
	tb := newTable(func() {}, nil)
	tb.update(mlNode(id(1), "10.0.0.1"), Alive, false, 2)
	tb.prove(id(1))
	tb.update(mlNode(id(1), "10.0.0.1"), Dead, false, 1)
	require.Equal(t, Alive, tb.list()[0].State)
	tb.update(mlNode(id(2), "10.0.0.2"), Alive, false, 1)
	tb.prove(id(2))
	tb.sweep(2)
	got, _ := tb.get(id(2))
	require.Equal(t, Dead, got.State)
	got, _ = tb.get(id(1))
	require.Equal(t, Alive, got.State)
}

func TestTable_ForgetsTheOldAndTheSuperseded(t *testing.T) {
	now := time.Now()
	var rows []Row
	for i := range maxOff + 50 {
		rows = append(rows, Row{ID: id(i), Addr: netip.MustParseAddrPort("10.0.0.1:1"), LastSeen: now.Add(-time.Duration(i) * time.Minute)})
	}
	rows = append(rows, Row{ID: lease.ID{Node: "ancient", Run: "r"}, LastSeen: now.Add(-offAge - time.Hour)})
	rows = append(rows, Row{ID: lease.ID{Node: id(0).Node, Run: "earlier"}, LastSeen: now.Add(-time.Hour)})
	tb := newTable(func() {}, rows)
	require.Len(t, tb.list(), maxOff)
	_, ok := tb.get(id(maxOff + 49))
	require.False(t, ok, "those seen longest ago go first")
	_, ok = tb.get(id(0))
	require.True(t, ok)
	require.True(t, tb.forget(netip.MustParseAddrPort("10.0.0.1:1")))
	require.Empty(t, tb.list())
	require.False(t, tb.forget(netip.MustParseAddrPort("10.0.0.1:1")))
}

func TestRows_DecodeIsTolerant(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		rows int
		bad  bool
	}{
		"empty":     {`[]`, 0, false},
		"not JSON":  {"\x00\x00", 0, true},
		"bad addr":  {`[{"node":"n","run":"r","addr":"x"},{"node":"n","run":"r","addr":"10.0.0.1:7"}]`, 1, false},
		"no node":   {`[{"run":"r","addr":"10.0.0.1:7"}]`, 0, false},
		"new field": {`[{"node":"n","run":"r","addr":"10.0.0.1:7","x":{}}]`, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			rows, err := DecodeRows([]byte(c.in))
			require.Equal(t, c.bad, err != nil)
			require.Len(t, rows, c.rows)
		})
	}
}

func TestQueue_DropsTheOldestAndNeverBlocks(t *testing.T) {
	q := newQueue()
	for i := range uint64(queueSize + 10) {
		q.put(message{Num: i})
		q.tableChanged()
	}
	require.EqualValues(t, 10, q.dropped.Load())
	require.EqualValues(t, 10, (<-q.messages).Num)
}

func TestLogBridge(t *testing.T) {
	var suspects []string
	s := newStrangers(func() {})
	b := &logBridge{log: zap.NewNop(), suspect: func(n string) { suspects = append(suspects, n) }, strange: s, limit: newLimiter(3)}
	for _, line := range []string{
		"[INFO] memberlist: Suspect n/r has failed, no acks received\n",
		"[ERR] memberlist: Decrypt packet failed: no installed keys could decrypt the message from=192.168.1.9:7946\n",
		"[ERR] memberlist: failed to receive: no installed keys could decrypt the message from=192.168.1.9:50000\n",
		"[ERR] memberlist: discarding packet with unacceptable label \"x\": from=[fe80::1]:7946\n",
		"[ERR] memberlist: failed to receive: i/o timeout from=192.168.1.8:50000\n",
		"no level, no source",
		"",
	} {
		n, err := b.Write([]byte(line))
		require.NoError(t, err)
		require.Equal(t, len(line), n)
	}
	require.Equal(t, []string{"n/r"}, suspects)
	require.Len(t, s.by, 2)
	require.EqualValues(t, 2, s.by["192.168.1.9"].Count)
	require.Equal(t, WrongToken, s.by["192.168.1.9"].Kind)
	require.Equal(t, OtherSite, s.by["fe80::1"].Kind)
	ok, _ := b.limit.allow()
	require.False(t, ok, "bounded")
	require.Equal(t, 5, b.limit.skipped, "and counted")
}

func TestStrangers_AreBounded(t *testing.T) {
	n := 0
	s := newStrangers(func() { n++ })
	for i := range 1000 {
		s.note(strconv.Itoa(i), WrongToken)
		s.note(fmt.Sprint(i), WrongToken)
	}
	require.Len(t, s.by, maxStrangers)
	require.Equal(t, 1000, n, "each is news once")
}
