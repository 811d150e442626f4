package gossip

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/memnet"
	"github.com/convertfw/floatrelay/lease"
)

const testBeat = 250 * time.Millisecond

// beaten is a leader with one member that answers each beat, as the arbiter
// does.
type beaten struct {
	t      *testing.T
	s      *station
	leader *node
	member *node
	num    uint64
	body   []byte
	seen   int // beats the member has answered
}

// record makes up one of the largest size.
func record(c byte) []byte { return bytes.Repeat([]byte{c}, lease.MaxBody) }

func newBeaten(t *testing.T, leader, member Config) *beaten {
	b := &beaten{t: t, s: newStation(t), body: record('a')}
	b.leader, b.member = b.s.start(leader, 0), b.s.start(member, 1, 0)
	see(t, 5*time.Second, b.leader, b.member)
	time.Sleep(time.Second)
	return b
}

func (b *beaten) close() { closeAll(b.leader, b.member) }

// beat sends one, waits for the next and returns what the member was told.
func (b *beaten) beat() []message {
	b.num++
	to := b.member.cfg.Self
	require.NoError(b.t, b.leader.SendBeat([]lease.ID{to}, b.num, b.body))
	before := b.seen
	for range 25 {
		time.Sleep(testBeat / 25)
		got := b.member.rec.gotBeats()
		for _, m := range got[b.seen:] {
			_ = b.member.SendVouch(b.leader.cfg.Self, b.leader.cfg.Self.Run, m.Num)
		}
		b.seen = len(got)
	}
	return b.member.rec.gotBeats()[before:]
}

// cost is how many bytes the net carries during n beats, all of which arrive.
func (b *beaten) cost(n int) int {
	b.t.Helper()
	before := b.s.net.Stats().Bytes
	for range n {
		got := b.beat()
		require.Len(b.t, got, 1)
		require.Equal(b.t, b.num, got[0].Num)
		require.Equal(b.t, b.leader.cfg.Self, got[0].From)
		require.Equal(b.t, b.body, got[0].Body)
	}
	return int(b.s.net.Stats().Bytes - before)
}

// idle is what memberlist itself needs for one beat, with room to spare.
const idle = 700

func TestBrief_SameBeatsForAFractionOfTheBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		require.Greater(t, b.cost(1), lease.MaxBody)
		require.Less(t, b.cost(40), 40*(idle+200))
		require.Len(t, b.leader.rec.gotVouches(), 41)
		require.Equal(t, b.leader.cfg.Self.Run, b.leader.rec.gotVouches()[40].Run)
	})
}

func TestBrief_ANewRecordGoesInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		b.cost(3)
		for _, c := range []byte("bcd") {
			b.body = record(c)
			require.Greater(t, b.cost(1), lease.MaxBody)
			require.Less(t, b.cost(3), 3*(idle+200))
		}
	})
}

// Nothing of an earlier version may notice, whichever side it is on.
func TestBrief_MixedVersions(t *testing.T) {
	old := func(i int) Config {
		c := config(i)
		c.wordy = true
		return c
	}
	for name, c := range map[string][2]Config{
		"old leader": {old(1), config(2)},
		"old member": {config(1), old(2)},
		"both old":   {old(1), old(2)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBeaten(t, c[0], c[1])
				defer b.close()
				require.Greater(t, b.cost(20), 20*lease.MaxBody)
				require.Len(t, b.leader.rec.gotVouches(), 20)
			})
		})
	}
	t.Run("one old member of two", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBeaten(t, config(1), config(2))
			c := b.s.start(old(3), 2, 0)
			defer func() { closeAll(b.leader, b.member, c) }()
			see(t, 5*time.Second, b.leader, b.member, c)
			for n := range uint64(10) {
				require.NoError(t, b.leader.SendBeat([]lease.ID{id(2), id(3)}, n+1, b.body))
				time.Sleep(testBeat)
				require.NoError(t, b.member.SendVouch(id(1), id(1).Run, n+1))
				require.NoError(t, c.SendVouch(id(1), id(1).Run, n+1))
			}
			time.Sleep(testBeat)
			require.Len(t, b.member.rec.gotBeats(), 10)
			require.Equal(t, b.member.rec.gotBeats()[9], c.rec.gotBeats()[9])
			require.Len(t, b.leader.rec.gotVouches(), 20)
		})
	})
}

// A member whose answers are lost is sent full beats again.
func TestBrief_LostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		b.cost(3)
		b.s.net.CutOneWay(memnet.Host(1), memnet.Host(0), true)
		require.Len(t, b.beat(), 1)
		require.Len(t, b.beat(), 1)
		before := b.s.net.Stats().Bytes
		require.Len(t, b.beat(), 1)
		require.Greater(t, int(b.s.net.Stats().Bytes-before), lease.MaxBody)
	})
}

// A member that has lost the record asks for it, and misses no beat.
func TestBrief_AsksForWhatItHasNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		b.cost(3)
		synctest.Wait()
		b.member.heard = heard{}
		require.Greater(t, b.cost(1), lease.MaxBody, "asked, and told within the same BEAT")
		require.Less(t, b.cost(1), idle+200)
	})
}

// If the question is lost too, the next beat brings it.
func TestBrief_AsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		b.cost(3)
		synctest.Wait()
		b.member.heard = heard{}
		b.s.net.CutOneWay(memnet.Host(1), memnet.Host(0), true)
		require.Empty(t, b.beat())
		b.s.net.Heal()
		require.Len(t, b.beat(), 1)
	})
}

// With a fifth of all packets lost, at most the beats lost themselves and the
// one after each are missing, and what arrives is right.
func TestBrief_LossyNet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		b.s.net.SetQuality(memnet.Quality{Min: 200 * time.Microsecond, Max: 2 * time.Millisecond, Loss: 0.2})
		told := 0
		for n := range 400 {
			if n%12 == 0 {
				b.body = record(byte(n))
			}
			for _, m := range b.beat() {
				require.Equal(t, b.body, m.Body)
				told++
			}
		}
		require.Greater(t, told, 400*7/10)
	})
}

// A restarted member has a new run and is told the record in full.
func TestBrief_RestartedMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer func() { b.close() }()
		b.cost(3)
		closeAll(b.member)
		again := config(2)
		again.Self.Run = "ffffffffffff"
		b.member, b.seen = b.s.start(again, 1, 0), 0
		within(t, 10*time.Second, "the leader knows the new run", func() bool {
			r, ok := b.leader.table.get(again.Self)
			return ok && r.Up()
		})
		require.Greater(t, b.cost(1), lease.MaxBody)
		require.Less(t, b.cost(8), 8*(idle+200))
	})
}

// tell hands a member a packet, as often as one likes.
func (n *node) tell(t *testing.T, m message) {
	t.Helper()
	raw, err := m.encode()
	require.NoError(t, err)
	(&delegate{g: n.Gossip}).NotifyMsg(raw)
	time.Sleep(50 * time.Millisecond)
}

// Doubled and late brief beats come to the same as full ones; replayed ones
// that cannot be made out are dropped, and nobody is made to send for them.
func TestBrief_DoubledOvertakenReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		b.cost(5)
		late := message{Type: typeBriefBeat, From: id(1), Num: 4, Sum: digestOf(b.body)}
		b.member.tell(t, late)
		b.member.tell(t, late)
		got := b.member.rec.gotBeats()
		require.Equal(t, []message{{From: id(1), Num: 4, Body: b.body}, {From: id(1), Num: 4, Body: b.body}}, got[len(got)-2:],
			"the arbiter is told and drops them, as ever")

		unknown := message{Type: typeBriefBeat, From: id(1), Num: 3, Sum: digestOf([]byte("long gone"))}
		before := len(got)
		b.member.tell(t, unknown)
		ask := message{Type: typeWant, From: id(2), Run: id(1).Run, Num: 3}
		b.leader.tell(t, ask)
		other := ask
		other.Num, other.Run = b.num, "another run"
		b.leader.tell(t, other)
		require.Len(t, b.member.rec.gotBeats(), before)
		ask.Num = b.num
		b.leader.tell(t, ask)
		b.leader.tell(t, ask)
		require.Len(t, b.member.rec.gotBeats(), before+1, "the newest one is sent again, once")
	})
}

// A vouch for a beat of an earlier run of the leader says nothing of this one.
func TestBrief_VouchOfAnotherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBeaten(t, config(1), config(2))
		defer b.close()
		b.num++
		require.NoError(t, b.leader.SendBeat([]lease.ID{id(2)}, b.num, b.body))
		b.leader.tell(t, message{Type: typeBriefVouch, From: id(2), Run: "earlier", Num: b.num})
		b.seen = len(b.member.rec.gotBeats())
		require.Greater(t, b.cost(1), lease.MaxBody)
	})
}
