package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// reads returns when the machine looked for a rev while d passed.
func (r *rig) reads(d time.Duration, rev uint64) (at []time.Duration) {
	from := len(r.all)
	r.pass(d)
	for _, s := range r.all[from:] {
		if x, ok := s.a.(Read); ok && x.Rev == rev {
			at = append(at, s.at)
		}
	}
	return at
}

func TestLook_ALateBeatMakesARosterMemberLookForTheNextRecord(t *testing.T) {
	r := onRoster(t)
	e := r.entry(7, 4, idB, roster(idA, idC))
	r.beats(e, sec)
	r.hear(e, 999)
	last := r.now
	at := r.reads(sec, 8)
	require.Equal(t, last+375*ms, at[0], "1.5 BEAT late")
	for i := range at[1:] {
		require.Equal(t, 125*ms, at[i+1]-at[i], "every BEAT/2")
	}
}

func TestLook_TheEndOfTheConnectionMakesItLookAtOnce(t *testing.T) {
	r := onRoster(t)
	r.hear(r.entry(7, 4, idB, roster(idA, idC)), 1)
	acts := r.do(LeaderGone{ID: idB})
	require.EqualValues(t, 8, one[Read](t, acts).Rev)
	t.Run("but not that of somebody else", func(t *testing.T) {
		r := onRoster(t)
		r.hear(r.entry(7, 4, idB, roster(idA, idC)), 1)
		none[Read](t, r.do(LeaderGone{ID: idC}))
	})
}

func TestLook_ALastWillIsTakenOverAtOnce(t *testing.T) {
	r := onRoster(t)
	r.hear(r.entry(7, 4, idB, roster(idA, idC)), 1)
	r.do(LeaderGone{ID: idB})
	r.pass(50 * ms)
	r.put(r.entry(8, 4, idB, released(lease.ID{}), roster(idA, idC)))
	begun, _ := r.nextCreate(sec)
	require.LessOrEqual(t, begun-r.now, 125*ms)
}

func TestLook_PollSlowsDownWhileGossipNamesALeader(t *testing.T) {
	lists := func(r *rig) int { return len(of[List](r.pass(time.Minute))) }
	off := func(t *testing.T, m Member) *rig {
		r := newRig(t)
		r.put(r.entry(7, 4, idB, roster(idC), figures(20*sec, 1500*ms)))
		r.do(Eligibility{Reasons: reason.Of(reason.Drained)}) // it only looks
		r.members(m)
		r.pass(3 * sec)
		return r
	}
	leads, dead, gaveUp := alive(idB), alive(idB), alive(idB)
	leads.Leads, dead.Leads = true, true
	dead.Alive = false
	require.LessOrEqual(t, lists(off(t, leads)), 7)
	require.GreaterOrEqual(t, lists(off(t, dead)), 29)
	require.GreaterOrEqual(t, lists(off(t, gaveUp)), 29, "alive, but it says that it leads no more")
}

func TestLook_WatchesTheLeaderWhoseRosterItIsOn(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(7, 4, idB, roster(idA)))
	require.Equal(t, idB, one[Watch](t, r.pass(ms)).ID)
	none[Watch](t, r.beats(r.entry(7, 4, idB, roster(idA)), 5*sec))
	require.Equal(t, idC, one[Watch](t, r.hear(r.entry(8, 5, idC, roster(idA)), 1)).ID)
	require.True(t, one[Watch](t, r.hear(r.entry(9, 5, idC), 2)).ID.IsZero(), "off the roster")
}

func TestStatus_HidesAShareThatDoesNotAnswer(t *testing.T) {
	r := settled(t)
	require.Equal(t, share, r.m.Status().Share)
	r.lists, r.creates = false, false
	r.pass(30 * sec)
	s := r.m.Status()
	require.Empty(t, s.Share, "it must not outrank a share in use")
	require.Equal(t, Ineligible, s.Role)
	require.NotEmpty(t, s.Reasons)
}

func TestStatus_NamesAreThoseOfTheDocs(t *testing.T) {
	require.Equal(t, "client candidate leader ineligible", Client.String()+" "+Candidate.String()+" "+Leader.String()+" "+Ineligible.String())
	require.Equal(t, "none starting running stopping", RelayNone.String()+" "+RelayStarting.String()+" "+RelayRunning.String()+" "+RelayStopping.String())
	for o := OK; o <= Uncertain; o++ {
		require.NotEmpty(t, o.String())
	}
}

func TestMachine_ReportsEveryStateOnce(t *testing.T) {
	r := onRoster(t)
	require.Empty(t, reports(r.beats(r.entry(7, 4, idB, roster(idA, idC)), time.Minute)), "nothing changed")
}
