package arbiter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

// sentTo begins one create of a held record and returns what was sent.
func sentTo(s *attempts, chain string, rev uint64, op OpID, at time.Duration, body string) attempt {
	a := s.add(attempt{share: chain, tenure: 1, rec: lease.Record{Rev: rev, State: lease.Held}, body: []byte(body)})
	s.begin(a, op, at)
	return *a
}

func found(rev uint64, body string) lease.Entry {
	return lease.Entry{Rev: rev, Kind: lease.Valid, Body: []byte(body)}
}

// revs are those of the attempts that are left.
func revs(s *attempts) (left []uint64) {
	for _, a := range s.open {
		left = append(left, a.rec.Rev)
	}
	return left
}

func TestAttempts_TriedOnceSentUntilForgotten(t *testing.T) {
	var s attempts
	a := s.add(attempt{share: "1", rec: lease.Record{Rev: 5}})
	require.False(t, s.tried("1", 5, 0), "it waits for the guard")
	require.Equal(t, a, s.unsent())
	_, ok := s.of(0)
	require.False(t, ok, "what was not sent belongs to no operation")

	s.begin(a, 7, sec)
	require.Nil(t, s.unsent())
	require.True(t, s.tried("1", 5, 0))
	require.False(t, s.tried("1", 5, 7), "not beside itself")
	require.False(t, s.tried("2", 5, 0))
	require.False(t, s.tried("1", 6, 0))
	got, ok := s.of(7)
	require.True(t, ok)
	require.Equal(t, sec, got.begun)

	s.forget(8)
	require.True(t, s.tried("1", 5, 0))
	s.forget(7)
	require.False(t, s.tried("1", 5, 0))
}

func TestAttempts_HowFarItEverWentIsNotForgotten(t *testing.T) {
	var s attempts
	require.False(t, s.begunAbove("1", 0))
	sentTo(&s, "1", 5, 1, sec, "a")
	sentTo(&s, "1", 3, 2, sec, "b")
	s.forget(1)
	s.dropBelow("1", 9, 0)
	require.Empty(t, s.open)
	require.True(t, s.begunAbove("1", 4))
	require.False(t, s.begunAbove("1", 5))
	require.False(t, s.begunAbove("2", 0))
}

func TestAttempts_AdoptedFromTheFirstAttemptAtItsRev(t *testing.T) {
	var s attempts
	sentTo(&s, "1", 5, 1, 10*sec, "first")
	sentTo(&s, "1", 5, 2, 20*sec, "second")
	a, ok := s.adoptable("1", found(5, "second"), 1)
	require.True(t, ok)
	require.Equal(t, 10*sec, a.begun)
	require.EqualValues(t, 1, a.op)
	for name, ask := range map[string]struct {
		chain  string
		e      lease.Entry
		tenure uint64
	}{
		"another body":   {"1", found(5, "secon"), 1},
		"another rev":    {"1", found(6, "second"), 1},
		"another tenure": {"1", found(5, "second"), 2},
		"another chain":  {"2", found(5, "second"), 1},
	} {
		_, ok = s.adoptable(ask.chain, ask.e, ask.tenure)
		require.False(t, ok, name)
		_, ok = s.ours(ask.chain, ask.e, ask.tenure)
		require.False(t, ok, name)
	}
}

func TestAttempts_AReleaseIsOursButNotAdopted(t *testing.T) {
	var s attempts
	a := s.add(attempt{share: "1", tenure: 1, rec: lease.Record{Rev: 5, State: lease.Released}, body: []byte("over")})
	_, ok := s.ours("1", found(5, "over"), 1)
	require.False(t, ok, "not sent yet")
	s.begin(a, 1, sec)
	_, ok = s.ours("1", found(5, "over"), 1)
	require.True(t, ok)
	_, ok = s.adoptable("1", found(5, "over"), 1)
	require.False(t, ok)
}

func TestAttempts_KeepsTheFirstAndTheNewestOfMany(t *testing.T) {
	var s attempts
	sentTo(&s, "1", 4, 99, sec, "other rev")
	for op := OpID(1); op <= 3*attemptsKept; op++ {
		require.Equal(t, min(int(op)-1, attemptsKept), s.thin("1", 5))
		sentTo(&s, "1", 5, op, time.Duration(op)*sec, "x")
		require.LessOrEqual(t, len(s.open), attemptsKept+1)
	}
	_, first := s.of(1)
	_, newest := s.of(3 * attemptsKept)
	_, second := s.of(2)
	_, other := s.of(99)
	require.Equal(t, []bool{true, true, false, true}, []bool{first, newest, second, other})
}

func TestAttempts_DropsWhatIsSettledButNotWhatIsUnderWay(t *testing.T) {
	build := func() *attempts {
		var s attempts
		for rev := uint64(3); rev <= 6; rev++ {
			sentTo(&s, "1", rev, OpID(rev), sec, "x")
		}
		sentTo(&s, "2", 3, 30, sec, "x")
		s.add(attempt{share: "1", rec: lease.Record{Rev: 7}})
		return &s
	}
	s := build()
	s.dropBelow("1", 6, 4)
	require.Equal(t, []uint64{4, 6, 3, 7}, revs(s), "the 3 is of another chain")
	s = build()
	s.dropBelow("1", 8, 0)
	require.Equal(t, []uint64{3}, revs(s), "an operation that does not exist keeps nothing that was not sent")
	s = build()
	s.dropOtherChains("2", 5)
	require.Equal(t, []uint64{5, 3}, revs(s))
	s = build()
	s.dropUnsent()
	require.Equal(t, []uint64{3, 4, 5, 6, 3}, revs(s))
}
