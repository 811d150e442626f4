package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// slowWinner wins record 7, whose roster is B and C, only after its create took
// d; nobody vouches yet.
func slowWinner(t *testing.T, d time.Duration) (r *rig, begun time.Duration, acts []Action) {
	t.Helper()
	r = newRig(t)
	r.creates = false
	r.put(r.entry(6, 3, idD, released(idA)))
	r.aliveAll(idB, idC)
	r.do(TreeClear{})
	begun, c := r.createBegun()
	require.ElementsMatch(t, []lease.ID{idB, idC}, r.opened(c.Body).Roster)
	r.lists = false
	r.jump(d)
	acts = r.created(OK)
	r.creates, r.lists = true, true
	return r, begun, acts
}

func TestRule5_StartsAtOnceWhileTheDeadlineLiesAhead(t *testing.T) {
	_, begun, acts := slowWinner(t, 500*ms)
	require.Equal(t, begun+1300*ms, one[StartRelay](t, acts).Until)
}

func TestRule5_KeepsTheRecordAndBeatsWhenTheDeadlineIsPast(t *testing.T) {
	r, begun, acts := slowWinner(t, 2*sec)
	acts = append(acts, r.pass(sec)...)
	none[StartRelay](t, acts)
	none[Publish](t, acts)
	none[Create](t, acts)
	require.Equal(t, Leader, r.m.Status().Role)
	beats := of[SendBeat](acts)
	require.GreaterOrEqual(t, len(beats), 4)
	require.ElementsMatch(t, []lease.ID{idB, idC}, beats[0].To)
	// The vouches arrive: now it may run.
	r.vouching = []lease.ID{idB, idC}
	acts = r.pass(300 * ms)
	start := one[StartRelay](t, acts)
	require.Equal(t, r.lastBeatBefore(start)+1300*ms, start.Until)
	require.Less(t, start.Until, begun+9800*ms)
}

// lastBeatBefore returns when the newest beat before a start was sent.
func (r *rig) lastBeatBefore(start StartRelay) (at time.Duration) {
	for _, s := range r.all {
		switch a := s.a.(type) {
		case SendBeat:
			at = s.at
		case StartRelay:
			if a == start {
				return at
			}
		}
	}
	return at
}

func TestRule5_OneVoucherIsNotEnough(t *testing.T) {
	r, _, _ := slowWinner(t, 2*sec)
	r.vouching = []lease.ID{idB}
	none[StartRelay](t, r.pass(7*sec))
}

func TestRule5_WaitsUntilTTLAndNoLonger(t *testing.T) {
	r, begun, _ := slowWinner(t, 2*sec)
	r.creates = false
	acts := r.run(begun + 9800*ms - tick)
	none[Create](t, acts)
	require.Equal(t, Leader, r.m.Status().Role)
	acts = r.run(begun + 9800*ms)
	require.NotEqual(t, Leader, r.m.Status().Role)
	none[StartRelay](t, acts)
	r.vouching = []lease.ID{idB, idC}
	r.do(VouchReceived{From: idB, Run: idA.Run, Num: r.beat.Num})
	none[StartRelay](t, r.do(VouchReceived{From: idC, Run: idA.Run, Num: r.beat.Num}))
}

func TestRule5_NoCreateBetweenWinningAndStarting(t *testing.T) {
	r, begun, _ := slowWinner(t, 2*sec)
	none[Create](t, r.run(begun+9700*ms))
}

func TestRule5_ACreateAcknowledgedBeyondTTLWinsNothing(t *testing.T) {
	r := taker(t)
	begun, _ := r.createBegun()
	r.now = begun + 9800*ms
	none[StartRelay](t, r.created(OK))
	require.NotEqual(t, Leader, r.m.Status().Role)
}

func TestRule5_PublishesAfterTheStart(t *testing.T) {
	r := taker(t)
	r.relays = false
	acts := r.created(OK)
	first := one[Publish](t, acts)
	require.False(t, first.Ready)
	require.Less(t, indexOf[StartRelay](acts), indexOf[Publish](acts))
	ready := one[Publish](t, r.do(RelayReady{Gen: r.gen, PID: 77}))
	require.True(t, ready.Ready)
	require.Equal(t, 77, ready.PID)
	require.Equal(t, r.m.Status().Rev, ready.Record.Rev)
}

// indexOf returns where the first action of a type stands, or -1.
func indexOf[T Action](acts []Action) int {
	for i, a := range acts {
		if _, ok := a.(T); ok {
			return i
		}
	}
	return -1
}

func TestRule5_AFailedPublicationIsRepeated(t *testing.T) {
	r := taker(t)
	r.views = false
	p := one[Publish](t, r.created(OK))
	none[Publish](t, r.pass(sec))
	p = one[Publish](t, r.do(Published{Op: p.Op, Outcome: Denied})) // ready meanwhile
	none[Publish](t, r.do(Published{Op: p.Op, Outcome: Denied}))
	one[Publish](t, r.pass(2500*ms))
	require.Equal(t, Leader, r.m.Status().Role, "the view decides nothing")
}

func TestRule5_NoStartBeforeTheOldTreeIsGone(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(6, 3, lease.ID{Node: idA.Node, Run: "a0"}, released(idA)))
	acts := r.pass(sec)
	none[Create](t, acts)
	none[StartRelay](t, acts)
	one[StartRelay](t, r.do(TreeClear{}))
}
