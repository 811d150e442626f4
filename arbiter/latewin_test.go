package arbiter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A takeover's create that is answered late, or twice, or in part.

// Somebody went on above the record before its create was answered: it counts no
// more, however fresh it is, and nothing of it is run.
func TestLateWin_NotBelowAHigherRecord(t *testing.T) {
	r := taker(t)
	higher := r.entry(8, 5, idB)
	r.put(higher)
	r.hear(higher, 1)
	require.EqualValues(t, 8, r.m.Status().Rev)
	acts := append(r.created(OK), r.pass(sec)...)
	none[StartRelay](t, acts)
	require.Equal(t, Client, r.m.Status().Role)
	require.EqualValues(t, 8, r.m.Status().Rev, "the head never falls")
}

// The first of two creates of one rev got through and is read while the second is
// under way: that one fails over a record of this very run, which is no loss.
func TestLateWin_TheFirstTryIsReadWhileTheSecondIsUnderWay(t *testing.T) {
	r := taker(t)
	_, first := r.createBegun()
	r.lists = false
	r.do(Created{Op: first.Op, Outcome: Uncertain})
	r.answerReads(260 * ms)
	_, second := r.createBegun()
	require.NotEqual(t, first.Op, second.Op)
	r.chain[7] = first.Body
	acts := r.answerReads(2500 * ms)
	require.EqualValues(t, 7, r.m.Status().Rev)
	r.creates, r.lists = true, true
	acts = append(acts, r.do(Created{Op: second.Op, Outcome: Exists})...)
	acts = append(acts, r.answerReads(100*ms)...)
	acts = append(acts, r.pass(30*sec)...)
	one[StartRelay](t, acts)
	none[StopRelay](t, acts)
}

// A create left its name without a body, and said so only when somebody else had
// gone on. The record above is not this run's to go on from.
func TestLateWin_ANameWithoutBodyMakesNoHigherRecordOwn(t *testing.T) {
	r := taker(t)
	r.chain[7], r.chain[8] = nil, nil
	acts := r.pass(r.cfg.Poll + 10*ms)
	require.EqualValues(t, 8, r.m.Status().Rev)
	_, c := r.createBegun()
	acts = append(acts, r.do(Created{Op: c.Op, Outcome: NoBody})...)
	acts = append(acts, r.pass(15*sec)...)
	none[Create](t, acts)
}

// What is settled is forgotten: a leader of many years looks through no list that
// grows with each renewal.
func TestAttempts_AreForgottenOnceSettled(t *testing.T) {
	r := settled(t)
	r.pass(5 * time.Minute)
	require.LessOrEqual(t, len(r.m.attempts.open), 1)
	r.creates = false
	for range 100 {
		if r.creating != nil {
			r.created(NoBody)
		}
		r.pass(sec)
	}
	r.creates = true
	if r.creating != nil {
		r.do(r.carryOut())
	}
	r.pass(5 * time.Minute)
	require.LessOrEqual(t, len(r.m.attempts.open), 1)
}
