package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// settled is a leader whose roster is B and C, both vouching, with a renewal
// acknowledged just now.
func settled(t *testing.T) *rig {
	t.Helper()
	r := leader(t, idB, idC)
	require.ElementsMatch(t, []lease.ID{idB, idC}, r.m.Status().Roster)
	_, c := r.nextCreate(4 * sec)
	require.Equal(t, c.Rev, r.m.Status().Rev)
	return r
}

// lastBeat returns when the newest beat was sent.
func (r *rig) lastBeat() (at time.Duration) {
	for _, s := range r.all {
		if _, ok := s.a.(SendBeat); ok {
			at = s.at
		}
	}
	return at
}

// stopsAt lets time pass until the relay is stopped and returns when that was.
func (r *rig) stopsAt(within time.Duration) time.Duration {
	r.t.Helper()
	from := len(r.all)
	r.pass(within)
	for _, s := range r.all[from:] {
		if _, ok := s.a.(StopRelay); ok {
			return s.at
		}
	}
	r.t.Fatalf("the relay is not stopped within %v", within)
	return 0
}

func TestRule2_RunsNoLongerThanTTLWithoutTheShare(t *testing.T) {
	r := settled(t)
	r.creates = false // the next renewal hangs, everybody vouches
	c := r.acked()
	require.Equal(t, c+10*sec-200*ms, r.stopsAt(12*sec))
}

// acked returns when the newest acknowledged create of the machine began.
func (r *rig) acked() (at time.Duration) {
	rev := r.m.Status().Rev
	for _, s := range r.all {
		if c, ok := s.a.(Create); ok && c.Rev == rev {
			at = s.at
		}
	}
	return at
}

func TestRule2_RunsNoLongerThanFenceWithoutShareAndVouches(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching = false, nil
	c, v := r.acked(), r.lastBeat()
	require.Equal(t, max(c, v)+1500*ms-200*ms, r.stopsAt(3*sec))
}

func TestRule2_OneSilentMemberIsEnough(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching = false, []lease.ID{idB}
	c, v := r.acked(), r.lastBeat()
	require.Equal(t, max(c, v)+1500*ms-200*ms, r.stopsAt(3*sec))
}

func TestRule2_TheShareAloneKeepsItRunning(t *testing.T) {
	r := settled(t)
	r.vouching = nil
	none[StopRelay](t, r.pass(60*sec))
	require.Equal(t, Leader, r.m.Status().Role)
}

func TestRule2_AVouchCountsFromWhenItsBeatWasSent(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching = false, nil
	r.pass(260 * ms)
	sent, num := r.lastBeat(), r.beat.Num
	r.jump(400 * ms)
	for _, id := range []lease.ID{idB, idC} {
		r.do(VouchReceived{From: id, Run: idA.Run, Num: num})
	}
	require.Equal(t, sent+1300*ms, r.m.Status().Deadline)
	require.Equal(t, "vouches", r.m.Status().By)
}

func TestRule2_AVouchForAnotherRunOrAnUnknownBeatIsNothing(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching = false, nil
	r.pass(260 * ms)
	before := r.m.Status().Deadline
	for _, id := range []lease.ID{idB, idC} {
		r.do(VouchReceived{From: id, Run: "a0", Num: r.beat.Num})
		r.do(VouchReceived{From: id, Run: idA.Run, Num: r.beat.Num + 1})
		r.do(VouchReceived{From: lease.ID{Node: id.Node, Run: "x"}, Run: idA.Run, Num: r.beat.Num})
		r.do(VouchReceived{From: id, Run: idA.Run, Num: 0})
	}
	require.Equal(t, before, r.m.Status().Deadline)
}

func TestRule2_AReplayedVouchChangesNothing(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching = false, nil
	r.pass(260 * ms)
	num := r.beat.Num
	vouch := func() {
		r.do(VouchReceived{From: idB, Run: idA.Run, Num: num})
		r.do(VouchReceived{From: idC, Run: idA.Run, Num: num})
	}
	vouch()
	want := r.m.Status().Deadline
	r.pass(600 * ms)
	vouch()
	require.Equal(t, want, r.m.Status().Deadline)
}

func TestRule2_CountsEveryAttemptSinceTheAcknowledgedRecord(t *testing.T) {
	r := settled(t)
	r.creates = false
	r.vouching = []lease.ID{idB, idC, idD}
	r.aliveAll(idB, idC, idD) // D will be let in after 2·FENCE
	c := r.nextNaming(idD)
	// Nobody knows whether it got through. From now on D counts.
	r.do(Created{Op: c.Op, Outcome: Uncertain})
	r.vouching = []lease.ID{idB, idC}
	v := r.lastBeat()
	require.Equal(t, v+1500*ms-200*ms, r.stopsAt(3*sec))
}

// nextCreate lets time pass until the next create begins.
func (r *rig) nextCreate(within time.Duration) (time.Duration, Create) {
	r.t.Helper()
	from := len(r.all)
	for end := r.now + within; r.now < end; {
		r.run(min(max(r.m.Wake(), r.now+ms), end))
		for _, s := range r.all[from:] {
			if c, ok := s.a.(Create); ok {
				return s.at, c
			}
		}
		from = len(r.all)
	}
	r.t.Fatalf("no create begins within %v", within)
	return 0, Create{}
}

// nextNaming acknowledges creates until one that names id begins.
func (r *rig) nextNaming(id lease.ID) Create {
	r.t.Helper()
	for range 20 {
		_, c := r.nextCreate(5 * sec)
		if containsID(r.opened(c.Body).Roster, id) {
			return c
		}
		r.created(OK)
	}
	r.t.Fatalf("no create names %v", id)
	return Create{}
}

func TestRule2_AMemberDroppedCountsUntilTheAcknowledgement(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching = false, []lease.ID{idB}
	_, c := r.nextCreate(2 * sec)
	if containsID(r.opened(c.Body).Roster, idC) { // the first renewal after the silence may still name C
		r.created(OK)
		_, c = r.nextCreate(2 * sec)
	}
	require.NotContains(t, r.opened(c.Body).Roster, idC)
	begun := r.acked()
	require.LessOrEqual(t, r.m.Status().Deadline, max(begun, r.lastBeat())+1300*ms)
	require.Equal(t, "share", r.m.Status().By)
	r.created(OK)
	require.Equal(t, r.acked()+10*sec-200*ms, r.stopsAt(12*sec), "acknowledged: C counts no more, B vouches")
}

func TestRule2_AShorteningCreateWaitsForTheGuard(t *testing.T) {
	r := settled(t)
	r.guards = false
	r.vouching = []lease.ID{idB, idC, idD}
	r.aliveAll(idB, idC, idD)
	// The guard does not answer: no create that names D begins, however long.
	from := len(r.all)
	r.pass(4200 * ms)
	for _, c := range of[Create](r.actions(from)) {
		require.NotContains(t, r.opened(c.Body).Roster, idD)
	}
	require.Equal(t, Leader, r.m.Status().Role)
	none[Create](t, r.do(GuardAcked{Gen: r.gen, Seq: 0}))
	acts := r.do(GuardAcked{Gen: r.gen, Seq: r.seq})
	require.Contains(t, r.opened(one[Create](t, acts).Body).Roster, idD, "acknowledged: the create begins at once")
}

func TestRule2_AnotherGuardsAcknowledgementDoesNotCount(t *testing.T) {
	r := staged(t)
	for _, gen := range []uint64{r.gen - 1, r.gen + 1} {
		none[Create](t, r.do(GuardAcked{Gen: gen, Seq: r.seq + 100}))
	}
}

func TestRule2_OtherCreatesDoNotWaitForTheGuard(t *testing.T) {
	r := settled(t)
	r.guards = false
	acts := r.pass(4 * sec)
	require.NotEmpty(t, of[Create](acts), "a renewal with the same roster shortens nothing")
}

func TestRule2_TheGuardIsToldEveryMove(t *testing.T) {
	r := settled(t)
	for range 50 {
		r.pass(100 * ms)
		require.Equal(t, r.m.Status().Deadline, r.until)
	}
	r.vouching = nil
	for range 50 {
		r.pass(100 * ms)
		require.Equal(t, r.m.Status().Deadline, r.until)
	}
}

func TestRule2_ExpiredIsFinal(t *testing.T) {
	late := map[string]func(r *rig, c Create) Event{
		"the acknowledgement": func(_ *rig, c Create) Event { return Created{Op: c.Op} },
		"a vouch":             func(r *rig, _ Create) Event { return VouchReceived{From: idB, Run: idA.Run, Num: r.beat.Num} },
		"a tick":              func(*rig, Create) Event { return Tick{} },
		"the guard's answer":  func(r *rig, _ Create) Event { return GuardAcked{Gen: r.gen, Seq: r.seq} },
		"ready again":         func(r *rig, _ Create) Event { return RelayReady{Gen: r.gen, PID: 1} },
	}
	for name, ev := range late {
		t.Run(name, func(t *testing.T) {
			r := settled(t)
			r.creates, r.vouching, r.guards = false, nil, false
			_, c := r.nextCreate(2 * sec)
			epoch := r.opened(c.Body).Epoch
			r.now = r.m.Status().Deadline
			stop := one[StopRelay](t, r.do(ev(r, c)))
			require.Zero(t, stop.Grace, "at once")
			require.NotEqual(t, Leader, r.m.Status().Role)
			if r.creating != nil {
				r.created(OK)
			}
			r.creates = true
			for _, id := range []lease.ID{idB, idC} {
				r.do(VouchReceived{From: id, Run: idA.Run, Num: r.beat.Num})
			}
			r.guards = true
			r.do(RelayDown{Gen: r.gen, Cause: DownStopped})
			for _, s := range of[StartRelay](r.pass(30 * sec)) {
				require.Greater(t, s.Epoch, epoch, "that tenure never runs again")
			}
		})
	}
	t.Run("one tick before it lives", func(t *testing.T) {
		r := settled(t)
		r.creates, r.vouching = false, nil
		_, c := r.nextCreate(2 * sec)
		r.now = r.m.Status().Deadline - tick
		none[StopRelay](t, r.do(Created{Op: c.Op}))
		require.Equal(t, Leader, r.m.Status().Role)
	})
}

func TestRule2_NoCreateOfTheTenureBeginsAfterItExpired(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching, r.guards = false, nil, false
	_, c := r.nextCreate(2 * sec)
	epoch := r.opened(c.Body).Epoch
	r.now = r.m.Status().Deadline
	r.do(Created{Op: c.Op, Outcome: Unavailable})
	for _, x := range of[Create](r.pass(60 * sec)) {
		require.Greater(t, r.opened(x.Body).Epoch, epoch)
	}
}

func TestRule2_AGuardThatHasKilledNeverRunsAgain(t *testing.T) {
	r := settled(t)
	epoch := r.m.Status().Epoch
	acts := r.do(RelayDown{Gen: r.gen, Cause: DownDeadline})
	for _, s := range of[StartRelay](append(acts, r.pass(10*sec)...)) {
		require.Greater(t, s.Epoch, epoch)
	}
}
