package arbiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// renewals lets d pass and returns when creates began.
func (r *rig) renewals(d time.Duration) (at []time.Duration, recs []lease.Record) {
	from := len(r.all)
	r.pass(d)
	for _, s := range r.all[from:] {
		if c, ok := s.a.(Create); ok {
			at, recs = append(at, s.at), append(recs, r.opened(c.Body))
		}
	}
	return at, recs
}

func TestRule8_RenewsEveryRenewWhileTheRosterVouches(t *testing.T) {
	r := settled(t)
	last := r.now
	at, _ := r.renewals(time.Minute)
	require.Len(t, at, 20)
	for _, x := range at {
		require.Equal(t, 3*sec, x-last)
		last = x
	}
}

func TestRule8_AnEmptyRosterIsRenewedEveryRenew(t *testing.T) {
	r := leader(t)
	at, _ := r.renewals(time.Minute)
	require.Len(t, at, 20)
}

func TestRule8_RenewsEveryThirdOfFenceWhileSomebodyIsSilent(t *testing.T) {
	r := leaderOf(t, func(c *Config) { c.Fence = 3 * sec }, idB, idC)
	r.pass(3 * sec)
	// C stays on the roster as long as a renewal that drops it is not
	// acknowledged, and no create succeeds.
	r.vouching = []lease.ID{idB}
	r.creates = false
	first, _ := r.nextCreate(3 * sec)
	r.created(Unavailable)
	second, _ := r.nextCreate(3 * sec)
	require.Equal(t, sec, second-first)
	require.Equal(t, Leader, r.m.Status().Role)
}

func TestRule8_TheFirstRosterIsWhomGossipShows(t *testing.T) {
	r := newRig(t)
	sick, zero, dead, elsewhere := alive(lease.ID{Node: "n1", Run: "r"}), alive(lease.ID{Node: "n2", Run: "r"}), alive(lease.ID{Node: "n3", Run: "r"}), alive(lease.ID{Node: "n4", Run: "r"})
	sick.Eligible, zero.Priority, dead.Alive, elsewhere.Share = false, 0, false, "9"
	best := alive(idC)
	best.Priority = 150
	r.put(r.entry(6, 3, idD, released(idA)))
	r.members(sick, zero, dead, elsewhere, alive(idB), best)
	c := one[Create](t, r.do(TreeClear{}))
	require.Equal(t, []lease.ID{idC, idB}, r.opened(c.Body).Roster, "best first")
}

func TestRule8_AMemberIsLetInAfterTwoFencesUnbroken(t *testing.T) {
	r := leader(t)
	r.vouching = []lease.ID{idB}
	r.aliveAll(idB)
	first := time.Duration(0)
	for len(r.m.Status().Roster) == 0 {
		r.pass(10 * ms)
		if first == 0 && r.lastBeat() > 0 {
			first = r.lastBeat() // the first beat B could vouch for
		}
	}
	require.GreaterOrEqual(t, r.acked(), first+3*sec)
	require.LessOrEqual(t, r.acked(), first+3*sec+r.cfg.Beat)
	require.Equal(t, []lease.ID{idB}, r.m.Status().Roster)
}

func TestRule8_AStutteringMemberIsNotLetIn(t *testing.T) {
	r := leader(t)
	r.aliveAll(idB)
	for range 10 {
		r.vouching = []lease.ID{idB}
		r.pass(2500 * ms)
		r.vouching = nil
		r.pass(1100 * ms)
		require.Empty(t, r.m.Status().Roster)
	}
}

func TestRule8_ASilentMemberIsDroppedAfterHalfAFence(t *testing.T) {
	r := settled(t)
	r.vouching = []lease.ID{idB}
	last := r.lastBeat()
	from := r.now
	for len(r.m.Status().Roster) == 2 {
		r.pass(10 * ms)
	}
	require.Greater(t, r.acked(), last+750*ms)
	require.LessOrEqual(t, r.acked(), max(last+750*ms, from)+500*ms+r.cfg.Beat)
	require.Equal(t, []lease.ID{idB}, r.m.Status().Roster)
}

func TestRule8_ADeadMemberIsDropped(t *testing.T) {
	r := settled(t)
	r.aliveAll(idB)
	r.pass(sec)
	require.Equal(t, []lease.ID{idB}, r.m.Status().Roster)
}

func TestRule8_AtMostRosterMax(t *testing.T) {
	r := leader(t)
	var ids []lease.ID
	var rows []Member
	for i := range 40 {
		id := lease.ID{Node: fmt.Sprintf("node-%02d", i), Run: "r"}
		m := alive(id)
		m.Priority = 100 + i
		ids, rows = append(ids, id), append(rows, m)
	}
	r.vouching = ids
	r.members(rows...)
	r.pass(10 * sec)
	require.Len(t, r.m.Status().Roster, lease.RosterMax)
	require.Equal(t, ids[39], r.m.Status().Roster[0], "best first")
	from := len(r.all)
	r.pass(5 * sec)
	for _, b := range of[SendBeat](r.actions(from)) {
		require.LessOrEqual(t, len(b.To), 2*lease.RosterMax, "the cost does not grow with the site")
	}
}

func TestRule8_ChangesCauseAtMostOneRenewalPerThirdOfFence(t *testing.T) {
	r := settled(t)
	var last time.Duration
	for i := range 60 {
		if r.vouching = []lease.ID{idB, idC}; i%2 == 0 {
			r.vouching = []lease.ID{idC}
		}
		at, _ := r.renewals(900 * ms)
		for _, x := range at {
			require.GreaterOrEqual(t, x-last, 500*ms)
			last = x
		}
	}
}

func TestRule8_BeatsGoOutEveryBeat(t *testing.T) {
	r := settled(t)
	from := len(r.all)
	r.pass(10 * sec)
	var last time.Duration
	for _, s := range r.all[from:] {
		b, ok := s.a.(SendBeat)
		if !ok {
			continue
		}
		if last != 0 {
			require.Equal(t, r.cfg.Beat, s.at-last)
		}
		last = s.at
		require.ElementsMatch(t, []lease.ID{idB, idC}, b.To)
		require.LessOrEqual(t, r.opened(b.Body).Rev, r.m.Status().Rev)
	}
	require.NotZero(t, last)
}
