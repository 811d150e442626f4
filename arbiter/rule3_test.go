package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// onRoster follows B, whose record 7 of epoch 4 names A on its roster.
func onRoster(t *testing.T, opts ...func(*Config)) *rig {
	t.Helper()
	return follower(t, func(r *rig) lease.Entry { return r.entry(7, 4, idB, roster(idA, idC)) }, opts...)
}

func TestRule3_VouchesAtOnceForABeatOfTheHead(t *testing.T) {
	r := onRoster(t)
	require.Equal(t, SendVouch{To: idB, Num: 12}, one[SendVouch](t, r.hear(r.entry(7, 4, idB, roster(idA, idC)), 12)))
}

func TestRule3_ABeatOfANewerRecordIsObservedAndVouchedFor(t *testing.T) {
	r := onRoster(t)
	e := r.entry(9, 4, idB, roster(idA))
	one[SendVouch](t, r.hear(e, 3))
	require.EqualValues(t, 9, r.m.Status().Rev)
	require.Equal(t, e.Body, r.m.Status().Head.Body)
	t.Run("of another tenure too", func(t *testing.T) {
		require.Equal(t, SendVouch{To: idC, Num: 1}, one[SendVouch](t, r.hear(r.entry(10, 5, idC), 1)))
		require.EqualValues(t, 5, r.m.Status().Epoch)
	})
}

func TestRule3_AnOlderBeatOfTheSameTenureIsVouchedForWithTheHead(t *testing.T) {
	r := onRoster(t)
	acts := r.hear(r.entry(6, 4, idB), 2)
	one[SendVouch](t, acts)
	head := one[SendHead](t, acts)
	require.Equal(t, idB, head.To)
	require.EqualValues(t, 7, r.opened(head.Body).Rev)
}

func TestRule3_AnyOtherOlderBeatIsAnsweredWithTheHeadOnly(t *testing.T) {
	r := onRoster(t)
	for name, e := range map[string]lease.Entry{
		"another owner":           r.entry(6, 3, idC),
		"another epoch":           r.entry(6, 3, idB),
		"another run of the node": r.entry(6, 4, lease.ID{Node: idB.Node, Run: "b0"}),
	} {
		t.Run(name, func(t *testing.T) {
			acts := r.hear(e, 2)
			none[SendVouch](t, acts)
			require.EqualValues(t, 7, r.opened(one[SendHead](t, acts).Body).Rev)
		})
	}
}

func TestRule3_NoVouchAfterBeginningToTakeOver(t *testing.T) {
	for _, out := range []Outcome{Unavailable, Uncertain, Denied, NotExist} {
		t.Run(out.String(), func(t *testing.T) {
			r := onRoster(t)
			r.creates = false
			_, c := r.nextCreate(3 * sec)
			require.EqualValues(t, 8, c.Rev)
			none[SendVouch](t, r.hear(r.entry(7, 4, idB, roster(idA, idC)), 20))
			r.do(Created{Op: c.Op, Outcome: out})
			none[SendVouch](t, r.hear(r.entry(7, 4, idB, roster(idA, idC)), 21))
			none[SendVouch](t, r.hear(r.entry(6, 4, idB, roster(idA, idC)), 22))
			one[SendVouch](t, r.hear(r.entry(8, 4, idB, roster(idA, idC)), 23))
		})
	}
}

func TestRule3_TheCreateOfAnotherChainDoesNotSilenceIt(t *testing.T) {
	r := onRoster(t)
	r.creates = false
	_, c := r.nextCreate(3 * sec)
	r.do(Created{Op: c.Op, Outcome: Unavailable})
	r.share = "4"
	e := r.entry(7, 4, idC, onShare("4"))
	r.chain = map[uint64][]byte{7: e.Body}
	r.pass(5 * sec)
	require.Equal(t, "4", r.m.Status().Share)
	one[SendVouch](t, r.hear(e, 1))
}

func TestRule3_VouchesOnlyForBeatsOfTheirOwner(t *testing.T) {
	r := onRoster(t)
	e := r.entry(7, 4, idB, roster(idA, idC))
	none[SendVouch](t, r.do(BeatReceived{From: idC, Num: 1, Entry: e}))
	none[SendVouch](t, r.do(BeatReceived{From: lease.ID{Node: idB.Node, Run: "b9"}, Num: 1, Entry: e}))
	e.Kind = lease.Unknown
	none[SendVouch](t, r.hear(e, 1))
	none[SendVouch](t, r.hear(r.entry(7, 4, idB, onShare("9")), 1))
}

func TestRule3_TheHolderVouchesForNobody(t *testing.T) {
	r := leader(t, idB)
	acts := r.hear(r.entry(6, 3, idD), 1)
	none[SendVouch](t, acts)
	require.Equal(t, r.m.Status().Rev, r.opened(one[SendHead](t, acts).Body).Rev, "it tells of its own record")
}

func TestRule3_VouchesKeepItFromTakingOver(t *testing.T) {
	r := onRoster(t)
	e := r.entry(7, 4, idB, roster(idA, idC))
	for i := range 200 {
		none[Create](t, r.pass(250*ms))
		one[SendVouch](t, r.hear(e, uint64(i+1)))
	}
}

func TestRule3_AnswersOnlyWhileAwake(t *testing.T) {
	// A beat that waited in a queue is vouched for with its own number: the
	// leader counts from when it sent it, so lateness costs the leader, never
	// safety.
	r := onRoster(t)
	r.hear(r.entry(7, 4, idB, roster(idA, idC)), 1)
	r.jump(time.Minute)
	require.EqualValues(t, 2, one[SendVouch](t, r.hear(r.entry(7, 4, idB, roster(idA, idC)), 2)).Num)
}

func TestRule3_AReplayedBeatChangesNothing(t *testing.T) {
	r := onRoster(t)
	e := r.entry(7, 4, idB, roster(idA, idC))
	one[SendVouch](t, r.hear(e, 5))
	none[SendVouch](t, append(r.hear(e, 5), r.hear(e, 4)...))
	var acts []Action
	for range 40 {
		acts = append(acts, r.hear(e, 5)...)
		acts = append(acts, r.pass(250*ms)...)
	}
	require.NotEmpty(t, of[Create](acts), "replays keep nobody from taking over")
}
