package gossip

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/convertfw/floatrelay/internal/reason"
)

func fullMeta() Meta {
	return Meta{
		Station: "POS-01", Role: "leader", Share: "0f0e0d0c-0b0a-4908-8706-050403020100",
		Rev: 1<<64 - 1, Epoch: 1<<64 - 1, Eligible: true, Priority: 1 << 31, Preempt: true,
		Relay: "192.168.100.200:65535", Note: "port 9530 is held by relay_server.exe (pid 4242)",
		Version: "v1.2.3-45-gabcdef012", Keys: []string{"01234567", "89abcdef"}, Brief: true,
	}
}

func TestMeta_RoundTrip(t *testing.T) {
	m := fullMeta()
	got, err := DecodeMeta(m.Encode())
	require.NoError(t, err)
	m.V = metaVersion
	require.Equal(t, m, got)
}

// The order in which things are given up when there is too much: note,
// version, station.
func TestMeta_TruncationOrder(t *testing.T) {
	long := strings.Repeat("站", 300)
	decode := func(m Meta) Meta {
		b := m.Encode()
		require.LessOrEqual(t, len(b), MaxMeta)
		require.Greater(t, len(b), MaxMeta-12, "no more is cut than needed")
		got, err := DecodeMeta(b)
		require.NoError(t, err)
		require.True(t, utf8.Valid(b))
		return got
	}
	t.Run("long note", func(t *testing.T) {
		m := fullMeta()
		m.Note = long
		got := decode(m)
		require.NotEmpty(t, got.Note)
		require.True(t, strings.HasPrefix(m.Note, got.Note))
		got.Note, m.Note, m.V = "", "", 1
		require.Equal(t, m, got, "nothing but the note is cut")
	})
	t.Run("long version", func(t *testing.T) {
		m := fullMeta()
		m.Version = long
		got := decode(m)
		require.Empty(t, got.Note)
		require.NotEmpty(t, got.Version)
		require.Equal(t, m.Station, got.Station)
	})
	t.Run("long station", func(t *testing.T) {
		m := fullMeta()
		m.Station = long
		got := decode(m)
		require.Empty(t, got.Note+got.Version)
		require.True(t, strings.HasPrefix(long, got.Station))
		require.Greater(t, len(got.Station), 100)
		require.Equal(t, m.Share, got.Share)
		require.Equal(t, m.Rev, got.Rev)
		require.Equal(t, m.Keys, got.Keys)
		require.True(t, got.Brief, "what others must know of us is never cut")
	})
}

func TestMeta_EncodeNeverExceedsTheLimit(t *testing.T) {
	nasty := rapid.OneOf(rapid.String(), rapid.StringMatching(`["\\\x00-\x1f站<>&\x{2028}]{0,700}`),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 900), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		m := Meta{
			Station: nasty.Draw(t, "station"), Role: nasty.Draw(t, "role"), Share: nasty.Draw(t, "share"),
			Rev: rapid.Uint64().Draw(t, "rev"), Epoch: rapid.Uint64().Draw(t, "epoch"),
			Priority: rapid.Int().Draw(t, "prio"), Eligible: true, Preempt: true,
			Relay: nasty.Draw(t, "relay"), Note: nasty.Draw(t, "note"), Version: nasty.Draw(t, "version"),
			Keys:  rapid.SliceOfN(nasty, 0, 5).Draw(t, "keys"),
			Brief: rapid.Bool().Draw(t, "brief"),
		}
		b := m.Encode()
		require.LessOrEqual(t, len(b), MaxMeta)
		require.True(t, utf8.Valid(b))
		got, err := DecodeMeta(b)
		require.NoError(t, err)
		require.Equal(t, m.Rev, got.Rev)
		require.Equal(t, m.Brief, got.Brief)
	})
}

func TestMeta_DecodeOfALaterBuild(t *testing.T) {
	got, err := DecodeMeta([]byte(`{"v":9,"s":"POS-07","new":{"x":[1]},"n":3}`))
	require.NoError(t, err)
	require.Equal(t, Meta{V: 9, Station: "POS-07", Rev: 3}, got)
	_, err = DecodeMeta([]byte("nonsense"))
	require.Error(t, err)
}

// A18: far too much metadata neither stops the node nor makes it vanish.
func TestA18_HugeStationStillJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		cfg := config(1)
		cfg.Meta.Station = strings.Repeat("站", 300)
		a, b := s.start(cfg, 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		got := b.row(t, id(1)).Meta.Station
		require.True(t, strings.HasPrefix(cfg.Meta.Station, got))
		require.True(t, utf8.ValidString(got))
		require.NotEmpty(t, got)
		m := cfg.Meta
		m.Note = strings.Repeat("說明", 400)
		a.SetMeta(m)
		time.Sleep(time.Second)
		require.Equal(t, got, b.row(t, id(1)).Meta.Station)
	})
}

// TestSetMeta_BeforeTheLoopBegins: a change made at once after the start, on a PC
// too busy to begin everything by then, is announced like any other.
func TestSetMeta_BeforeTheLoopBegins(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what New starts begins only when we wait
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		b := s.start(config(2), 0)
		a := s.start(config(1), 1, 0)
		m := a.cfg.Meta
		m.Role = "leader"
		a.SetMeta(m)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		within(t, 5*time.Second, "the change arrives", func() bool { return b.row(t, id(1)).Meta.Role == "leader" })
	})
}

func TestSetMeta_ReachesEverybodyAndIsCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		b.rec.mu.Lock()
		before := b.rec.tables
		b.rec.mu.Unlock()
		m := a.cfg.Meta
		m.Role = "leader"
		begin := time.Now()
		for i := range uint64(1000) {
			m.Rev, m.Epoch = i, i // a new epoch of a leader is urgent
			a.SetMeta(m)
			time.Sleep(time.Millisecond)
		}
		within(t, time.Second, "the last one arrives", func() bool { return b.row(t, id(1)).Meta.Rev == 999 })
		most := int(time.Since(begin)/a.cfg.Tuning.MetaEvery) + 2
		b.rec.mu.Lock()
		defer b.rec.mu.Unlock()
		require.LessOrEqual(t, b.rec.tables-before, most, "1,000 changes become few updates")
	})
}

func TestSetMeta_MembersThatDoNotLeadAnnounceRevsLazily(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		m := a.cfg.Meta
		m.Role, m.Rev = "client", 50
		a.SetMeta(m)
		within(t, time.Second, "a new role is told at once", func() bool { return b.row(t, id(1)).Meta.Rev == 50 })
		m.Rev = 51
		a.SetMeta(m)
		time.Sleep(3 * time.Second)
		require.EqualValues(t, 50, b.row(t, id(1)).Meta.Rev)
		within(t, lazyRev*lazyPerMember, "but it is told", func() bool { return b.row(t, id(1)).Meta.Rev == 51 })
		m.Rev = 52
		a.SetMeta(m)
		time.Sleep(time.Second)
		m.Rev, m.Epoch = 53, 9
		a.SetMeta(m)
		within(t, lazyLeast, "an epoch sooner, though a rev waits", func() bool { return b.row(t, id(1)).Meta.Epoch == 9 })
		time.Sleep(2 * lazyRev * lazyPerMember)
		require.EqualValues(t, 53, b.row(t, id(1)).Meta.Rev)
	})
}

// A renewal every three seconds told to everybody would be a third of what an
// idle member of a large station costs.
func TestSetMeta_TheLeaderAnnouncesRenewalsNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		a, b := s.start(config(1), 0), s.start(config(2), 1, 0)
		defer closeAll(a, b)
		see(t, 5*time.Second, a, b)
		m := a.cfg.Meta
		m.Role, m.Rev, m.Epoch = "leader", 50, 3
		a.SetMeta(m)
		within(t, time.Second, "a new leader is told at once", func() bool { return b.row(t, id(1)).Meta.Rev == 50 })
		m.Rev = 51
		a.SetMeta(m)
		time.Sleep(lazyLeast - time.Second)
		require.EqualValues(t, 50, b.row(t, id(1)).Meta.Rev)
		within(t, 2*time.Second, "but it is told", func() bool { return b.row(t, id(1)).Meta.Rev == 51 })
		m.Rev, m.Epoch = 52, 4
		a.SetMeta(m)
		within(t, time.Second, "a new epoch at once", func() bool { return b.row(t, id(1)).Meta.Epoch == 4 })
	})
}

func TestMeta_IsPlainJSON(t *testing.T) {
	require.True(t, json.Valid(fullMeta().Encode()))
}

// A member of the first release sends and reads a note; this one sends codes as
// well, and of those as many as there is room for.
func TestMeta_ReasonsAndTheFirstRelease(t *testing.T) {
	old, err := DecodeMeta([]byte(`{"v":1,"s":"POS-01","no":"drained by hand"}`))
	require.NoError(t, err)
	require.Equal(t, []reason.Reason{reason.Text("drained by hand")}, old.Reasons())

	m := Meta{Station: "POS-01", Note: "in words", Why: []reason.Reason{{Code: reason.Drained}, {Code: "of-a-later-version", Station: "POS-09"}}}
	got, err := DecodeMeta(m.Encode())
	require.NoError(t, err)
	require.Equal(t, m.Why, got.Reasons())
	require.Equal(t, "in words", got.Note, "for members of the first release")

	m.Note = strings.Repeat("n", 400)
	m.Why = append(m.Why, reason.Reason{Code: reason.RelayFailing, Count: 9, Detail: strings.Repeat("d", 400)})
	b := m.Encode()
	require.LessOrEqual(t, len(b), MaxMeta)
	got, err = DecodeMeta(b)
	require.NoError(t, err)
	require.Empty(t, got.Note, "the note goes first")
	require.Len(t, got.Why, 3, "then the details, not the codes")
	require.Equal(t, 9, got.Why[2].Count)

	for range 9 {
		m.Why = append(m.Why, reason.Reason{Code: reason.LowerShare, Share: strings.Repeat("s", 36), OwnShare: strings.Repeat("o", 36)})
	}
	b = m.Encode()
	require.LessOrEqual(t, len(b), MaxMeta)
	got, err = DecodeMeta(b)
	require.NoError(t, err)
	require.Equal(t, reason.Drained, got.Why[0].Code, "the first ones stay")
	require.Len(t, m.Why, 12, "the caller's own are not cut")
}
