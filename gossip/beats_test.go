package gossip

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// leading is a leader's side under test, with two members.
type leading struct {
	beats
	num   uint64
	wordy lease.ID
}

// beat sends one and returns who gets it brief.
func (l *leading) beat(body string, to ...lease.ID) []lease.ID {
	l.num++
	full, brief, sum := l.next(to, l.num, []byte(body), func(id lease.ID) bool { return id != l.wordy })
	if len(full)+len(brief) != len(to) || sum != digestOf([]byte(body)) {
		panic("somebody is left out, or told of another record")
	}
	return brief
}

func TestBeats_BriefOnlyToWhoHasTheRecord(t *testing.T) {
	a, b := id(1), id(2)
	t.Run("nobody at first", func(t *testing.T) {
		l := leading{}
		require.Empty(t, l.beat("one", a, b))
		require.Empty(t, l.beat("one", a, b))
	})
	t.Run("whoever has answered", func(t *testing.T) {
		l := leading{}
		l.beat("one", a, b)
		l.answered(a, 1)
		require.Equal(t, []lease.ID{a}, l.beat("one", a, b))
		l.answered(a, 2)
		l.answered(b, 1)
		require.Equal(t, []lease.ID{a, b}, l.beat("one", a, b))
	})
	t.Run("not of another record", func(t *testing.T) {
		l := leading{}
		l.beat("one", a)
		l.answered(a, 1)
		require.Empty(t, l.beat("two", a))
		l.answered(a, 1) // late: it has the record before
		require.Empty(t, l.beat("two", a))
		l.answered(a, 2)
		require.Len(t, l.beat("two", a), 1)
		require.Empty(t, l.beat("one", a), "nor of one it had once")
	})
	t.Run("not one that falls silent", func(t *testing.T) {
		l := leading{}
		l.beat("one", a)
		l.answered(a, 1)
		require.Len(t, l.beat("one", a), 1)
		require.Len(t, l.beat("one", a), 1, "one answer may be lost")
		require.Empty(t, l.beat("one", a))
		require.Empty(t, l.beat("one", a))
		l.answered(a, 1)
		require.Empty(t, l.beat("one", a), "an old answer repeated says nothing of now")
		l.answered(a, 6)
		require.Len(t, l.beat("one", a), 1)
	})
	t.Run("not another run of it", func(t *testing.T) {
		l := leading{}
		l.beat("one", a)
		l.answered(a, 1)
		restarted := lease.ID{Node: a.Node, Run: "other"}
		require.Empty(t, l.beat("one", restarted))
		l.answered(a, 2)
		require.Empty(t, l.beat("one", restarted), "the old run's answer is not the new one's")
	})
	t.Run("not one that was away", func(t *testing.T) {
		l := leading{}
		l.beat("one", a, b)
		l.answered(a, 1)
		l.beat("one", b)
		require.Empty(t, l.beat("one", a, b))
	})
	t.Run("not one that does not announce it", func(t *testing.T) {
		l := leading{wordy: a}
		l.beat("one", a, b)
		l.answered(a, 1)
		l.answered(b, 1)
		require.Equal(t, []lease.ID{b}, l.beat("one", a, b))
	})
	t.Run("not for an answer to what was never sent", func(t *testing.T) {
		l := leading{}
		l.answered(a, 1)
		l.beat("one", a)
		l.answered(a, 99)
		l.answered(a, 0)
		require.Empty(t, l.beat("one", a))
	})
}

func TestBeats_Asked(t *testing.T) {
	a, b := id(1), id(2)
	start := func() *leading {
		l := &leading{}
		l.beat("one", a)
		l.answered(a, 1)
		l.beat("one", a)
		return l
	}
	t.Run("the beat again and the next in full", func(t *testing.T) {
		l := start()
		body, ok := l.asked(a, 2)
		require.True(t, ok)
		require.Equal(t, "one", string(body))
		require.Empty(t, l.beat("one", a))
		l.answered(a, 2)
		require.Len(t, l.beat("one", a), 1)
	})
	t.Run("once per beat", func(t *testing.T) {
		l := start()
		_, ok := l.asked(a, 2)
		require.True(t, ok)
		_, ok = l.asked(a, 2)
		require.False(t, ok)
	})
	t.Run("not an older beat, but the next in full", func(t *testing.T) {
		l := start()
		_, ok := l.asked(a, 1)
		require.False(t, ok)
		require.Empty(t, l.beat("one", a))
	})
	t.Run("not of strangers or another record", func(t *testing.T) {
		l := start()
		_, ok := l.asked(b, 2)
		require.False(t, ok)
		l.beat("two", a)
		_, ok = l.asked(a, 2)
		require.False(t, ok)
		_, ok = l.asked(a, 9)
		require.False(t, ok)
		l.answered(a, 3)
		_, ok = l.asked(a, 2)
		require.False(t, ok)
		require.Len(t, l.beat("two", a), 1, "it has this one")
	})
}

func TestHeard_MakesTheFullBeat(t *testing.T) {
	one, two := []byte("one"), []byte("two")
	leader, other := id(1), id(2)
	t.Run("of the record it has", func(t *testing.T) {
		h := heard{}
		h.full(leader, 1, one)
		body, _ := h.brief(leader, 2, digestOf(one))
		require.Equal(t, one, body)
	})
	t.Run("of the record before, if packets overtake each other", func(t *testing.T) {
		h := heard{}
		h.full(leader, 1, one)
		h.full(leader, 3, two)
		body, ask := h.brief(leader, 2, digestOf(one))
		require.Equal(t, one, body)
		require.False(t, ask)
		body, _ = h.brief(leader, 4, digestOf(two))
		require.Equal(t, two, body)
	})
	t.Run("not of somebody else's", func(t *testing.T) {
		h := heard{}
		h.full(other, 1, one)
		body, ask := h.brief(leader, 1, digestOf(one))
		require.Nil(t, body)
		require.True(t, ask)
	})
	t.Run("of a record that was repeated since", func(t *testing.T) {
		h := heard{}
		for n, r := range [][]byte{one, two, one, {3}} {
			h.full(leader, uint64(n+1), r)
		}
		body, _ := h.brief(leader, 9, digestOf(one))
		require.Equal(t, one, body, "the newest two are kept")
		body, _ = h.brief(leader, 10, digestOf(two))
		require.Nil(t, body)
	})
	t.Run("never more than it may keep", func(t *testing.T) {
		h := heard{}
		for i := range 100 {
			h.full(id(i), 1, []byte{1, byte(i)})
			h.full(id(i), 2, []byte{2, byte(i)})
			h.full(id(i), 3, []byte{3, byte(i)})
		}
		require.Len(t, h.records, recordsKept)
		require.Len(t, h.newest, recordsKept)
		body, _ := h.brief(id(99), 4, digestOf([]byte{3, 99}))
		require.NotNil(t, body)
	})
}

func TestHeard_AsksOnlyForWhatIsOfUse(t *testing.T) {
	h := heard{}
	asks := func(num uint64) bool {
		body, ask := h.brief(id(1), num, digestOf([]byte("unknown")))
		require.Nil(t, body)
		return ask
	}
	require.True(t, asks(5))
	require.False(t, asks(5), "doubled")
	require.False(t, asks(4), "overtaken, or replayed")
	require.False(t, asks(5), "and doubled again")
	h.full(id(1), 7, []byte("one"))
	require.False(t, asks(6), "a newer one is here")
	require.True(t, asks(8))
}
