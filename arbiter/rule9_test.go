package arbiter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRule9_DeletesOnlyWhatAListingHasLongShownSuperseded(t *testing.T) {
	r := leader(t, idB)
	for rev := uint64(1); rev <= 5; rev++ {
		r.chain[rev] = r.entry(rev, 1, idB).Body
	}
	laid := r.now
	acts := r.run(laid + 80*sec)
	none[Housekeep](t, acts)
	acts = r.run(laid + 80*sec + 2*r.cfg.Poll + 100*ms)
	require.NotEmpty(t, of[Housekeep](acts))
	require.Contains(t, of[Housekeep](acts)[0].Revs, uint64(1))
	// The checker judges the age of every single deletion from here on.
	r.pass(10 * time.Minute)
	require.Less(t, len(r.chain), 80, "what is young stays, the rest goes: %d records", len(r.chain))
	require.NotContains(t, r.chain, uint64(5))
}

func TestRule9_NotWhatBeatsOrReadsHaveShown(t *testing.T) {
	r := leader(t, idB)
	r.lists = false // no listing is answered any more
	none[Housekeep](t, r.pass(5*time.Minute))
}

func TestRule9_OnlyTheLeaderDeletes(t *testing.T) {
	r := onRoster(t)
	for rev := uint64(1); rev <= 5; rev++ {
		r.chain[rev] = r.entry(rev, 1, idB).Body
	}
	e := r.entry(7, 4, idB, roster(idA, idC))
	none[Housekeep](t, r.beats(e, 3*time.Minute))
}

func TestRule9_AStuckDeletionStopsNothingElse(t *testing.T) {
	r := leader(t, idB)
	for rev := uint64(1); rev <= 5; rev++ {
		r.chain[rev] = r.entry(rev, 1, idB).Body
	}
	r.views = false // publishing and deleting hang for ever
	acts := r.pass(3 * time.Minute)
	require.Len(t, of[Housekeep](acts), 1)
	require.GreaterOrEqual(t, len(of[Create](acts)), 55)
	none[StopRelay](t, acts)
	require.Equal(t, Leader, r.m.Status().Role)
}

func TestRule9_EveryLaneWaitsOnlyForItself(t *testing.T) {
	t.Run("a stuck read does not stop renewals", func(t *testing.T) {
		r := leader(t, idB)
		r.lists = false
		acts := r.pass(time.Minute)
		require.GreaterOrEqual(t, len(of[Create](acts)), 19)
		require.LessOrEqual(t, len(of[List](acts)), 1)
	})
	t.Run("a stuck create does not stop reads", func(t *testing.T) {
		r := leader(t, idB)
		r.creates = false
		acts := r.pass(9 * sec)
		require.GreaterOrEqual(t, len(of[List](acts)), 3)
		require.Len(t, of[Create](acts), 1)
		require.NotEmpty(t, of[SendBeat](acts))
	})
}
