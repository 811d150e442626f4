package arbiter

import (
	"testing"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// killsFirst requires that the relay was killed at once, first of all, and that
// the machine leads no more.
func killsFirst(t *testing.T, r *rig, acts []Action) {
	t.Helper()
	stop := one[StopRelay](t, acts)
	require.Zero(t, stop.Grace, "a loss does not ask nicely")
	require.Equal(t, r.gen, stop.Gen)
	require.Zero(t, indexOf[StopRelay](acts), "before anything else: %s", describe(acts))
	require.NotEqual(t, Leader, r.m.Status().Role)
}

func TestRule6_ACreateThatFindsAStrangeRecordStopsTheRelay(t *testing.T) {
	r := settled(t)
	r.creates = false
	_, c := r.nextCreate(5 * sec)
	r.put(r.entry(c.Rev, 9, idB))
	killsFirst(t, r, r.created(Exists))
}

func TestRule6_AHigherRevStopsTheRelay(t *testing.T) {
	tests := map[string]func(r *rig, rev uint64) []Action{
		"listed": func(r *rig, rev uint64) []Action {
			r.lists = false
			for {
				if _, ok := r.reading.(List); ok {
					break
				}
				r.pass(100 * ms)
			}
			r.put(r.entry(rev, 9, idB))
			return r.do(r.look())
		},
		"in a beat": func(r *rig, rev uint64) []Action { return r.hear(r.entry(rev, 9, idB), 1) },
		"told by a member": func(r *rig, rev uint64) []Action {
			return r.do(HeadReceived{From: idC, Entry: r.entry(rev, 9, idB)})
		},
		"told of a release": func(r *rig, rev uint64) []Action {
			return r.do(HeadReceived{From: idC, Entry: r.entry(rev, 9, idB, released(idC))})
		},
	}
	for name, see := range tests {
		t.Run(name, func(t *testing.T) {
			r := settled(t)
			killsFirst(t, r, see(r, r.m.Status().Rev+1))
		})
		t.Run(name+", far above", func(t *testing.T) {
			r := settled(t)
			killsFirst(t, r, see(r, r.m.Status().Rev+3))
		})
	}
}

func TestRule6_ItsOwnLastWillStopsIt(t *testing.T) {
	// A release of this very tenure that this daemon did not write (the guard's
	// last will): the lease is gone, whoever wrote it.
	r := settled(t)
	s := r.m.Status()
	will := s.Head.Record
	will.Rev, will.State, will.LeaseUntil = s.Rev+1, lease.Released, ""
	body, err := r.codec.Seal(will)
	require.NoError(t, err)
	killsFirst(t, r, r.do(HeadReceived{From: idB, Entry: r.codec.Open("", 0, body)}))
}

func TestRule6_ARecordOfThisTenureIsNoLoss(t *testing.T) {
	t.Run("an older one", func(t *testing.T) {
		r := settled(t)
		none[StopRelay](t, r.hear(r.entry(r.m.Status().Rev-1, 3, idB), 1))
	})
	t.Run("an uncertain renewal that got through", func(t *testing.T) {
		r := settled(t)
		r.creates = false
		begun, c := r.nextCreate(5 * sec)
		r.apply()
		acts := r.do(Created{Op: c.Op, Outcome: Uncertain})
		r.creates = true
		acts = append(acts, r.pass(2*sec)...)
		none[StopRelay](t, acts)
		require.GreaterOrEqual(t, r.m.Status().Rev, c.Rev)
		require.GreaterOrEqual(t, r.m.Status().Deadline, begun+1300*ms)
	})
	t.Run("one without a body", func(t *testing.T) {
		r := settled(t)
		r.creates = false
		_, c := r.nextCreate(5 * sec)
		r.created(NoBody)
		r.creates = true
		none[StopRelay](t, r.pass(10*sec))
		require.Greater(t, r.m.Status().Rev, c.Rev)
	})
}

func TestRule6_AContestedRecordIsReadBeforeAnythingElse(t *testing.T) {
	contested := func(t *testing.T) (*rig, Create) {
		r := settled(t)
		r.creates = false
		_, c := r.nextCreate(5 * sec)
		r.do(Created{Op: c.Op, Outcome: Uncertain})
		_, again := r.nextCreate(5 * sec)
		require.Equal(t, c.Rev, again.Rev)
		require.Nil(t, r.reading)
		r.lists = false
		return r, again
	}
	t.Run("somebody else's", func(t *testing.T) {
		r, c := contested(t)
		r.put(r.entry(c.Rev, 9, idB))
		none[StopRelay](t, r.do(Created{Op: c.Op, Outcome: Exists}))
		require.Equal(t, c.Rev, r.reading.(Read).Rev)
		killsFirst(t, r, r.do(r.look()))
	})
	t.Run("unreadable", func(t *testing.T) {
		r, c := contested(t)
		r.chain[c.Rev] = nil
		r.do(Created{Op: c.Op, Outcome: Exists})
		killsFirst(t, r, r.do(r.look()))
	})
	t.Run("ours", func(t *testing.T) {
		r, c := contested(t)
		r.apply()
		r.do(Created{Op: c.Op, Outcome: Exists})
		none[StopRelay](t, r.do(r.look()))
		require.Equal(t, c.Rev, r.m.Status().Rev)
		require.Equal(t, Leader, r.m.Status().Role)
	})
	t.Run("nobody answers", func(t *testing.T) {
		r, c := contested(t)
		r.vouching = nil
		r.do(Created{Op: c.Op, Outcome: Exists})
		epoch := r.m.Status().Epoch
		acts := r.pass(3 * sec)
		one[StopRelay](t, acts)
		for _, x := range of[Create](acts) {
			require.Greater(t, r.opened(x.Body).Epoch, epoch)
		}
	})
}

func TestRule6_ThenAClient(t *testing.T) {
	r := settled(t)
	e := r.entry(r.m.Status().Rev+1, 9, idB, roster(idA))
	r.hear(e, 1)
	s := r.m.Status()
	require.Equal(t, Client, s.Role)
	require.Equal(t, e.Rev, s.Rev)
	none[SendBeat](t, r.beats(e, 5*sec))
	one[SendVouch](t, r.hear(e, 999))
}
