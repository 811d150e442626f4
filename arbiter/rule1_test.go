package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// taker is a member about to take over a released head; its create of record 7
// is outstanding since r.now.
func taker(t *testing.T, opts ...func(*Config)) *rig {
	t.Helper()
	r := newRig(t, opts...)
	r.creates = false
	r.put(r.entry(6, 3, idD, released(idA)))
	require.EqualValues(t, 7, one[Create](t, r.do(TreeClear{})).Rev)
	return r
}

// createBegun returns when the newest create began.
func (r *rig) createBegun() (at time.Duration, c Create) {
	for _, s := range r.all {
		if x, ok := s.a.(Create); ok {
			at, c = s.at, x
		}
	}
	return at, c
}

func TestRule1_WonOnlyWhenCreateAndBodyAcknowledged(t *testing.T) {
	for _, out := range []Outcome{NoBody, Unavailable, Denied, Uncertain, NotExist} {
		t.Run(out.String(), func(t *testing.T) {
			r := taker(t)
			acts := r.created(out)
			none[StartRelay](t, acts)
			require.NotEqual(t, Leader, r.m.Status().Role)
		})
	}
	t.Run("exists", func(t *testing.T) {
		r := taker(t)
		r.put(r.entry(7, 4, idB))
		none[StartRelay](t, r.created(Exists))
		require.NotEqual(t, Leader, r.m.Status().Role)
	})
	t.Run("ok", func(t *testing.T) {
		r := taker(t)
		start := one[StartRelay](t, r.created(OK))
		require.EqualValues(t, 4, start.Epoch)
		require.Equal(t, Leader, r.m.Status().Role)
	})
}

func TestRule1_CountsFromWhenTheCreateBegan(t *testing.T) {
	r := taker(t)
	begun, _ := r.createBegun()
	r.jump(900 * ms)
	start := one[StartRelay](t, r.created(OK))
	require.Equal(t, begun+10*sec-200*ms, start.Until, "an empty roster leaves TTL alone, counted from the begin")
}

func TestRule1_RenewalCountsFromWhenItsCreateBegan(t *testing.T) {
	r := leader(t)
	r.creates = false
	r.run(r.now + 4*sec)
	begun, c := r.createBegun()
	require.NotNil(t, r.creating)
	r.jump(400 * ms)
	r.created(OK)
	require.Equal(t, begun+10*sec-200*ms, r.m.Status().Deadline)
	require.Equal(t, c.Rev, r.m.Status().Rev)
}

func TestRule1_AdoptsAnUncertainTakeoverByteForByte(t *testing.T) {
	r := taker(t)
	begun, first := r.createBegun()
	r.apply()
	acts := r.do(Created{Op: first.Op, Outcome: Uncertain})
	acts = append(acts, r.pass(sec)...)
	start := one[StartRelay](t, acts)
	require.Equal(t, begun+10*sec-200*ms, start.Until, "C is the begin of the first attempt")
}

func TestRule1_AdoptionCountsFromTheFirstAttemptAtTheRev(t *testing.T) {
	r := taker(t)
	begun, _ := r.createBegun()
	r.creating, r.lists = nil, false
	_, c := r.createBegun()
	r.do(Created{Op: c.Op, Outcome: Uncertain})
	r.answerReads(260 * ms)
	_, second := r.createBegun()
	require.NotEqual(t, c.Op, second.Op, "a second attempt at the same rev")
	require.EqualValues(t, 7, second.Rev)
	r.apply() // the second body is the one found
	r.do(Created{Op: second.Op, Outcome: Uncertain})
	acts := r.answerReads(sec)
	start := one[StartRelay](t, acts)
	require.Equal(t, begun+10*sec-200*ms, start.Until)
}

// answerReads lets d pass with the read lane answered after the fact, one
// millisecond late, so that creates can begin in between.
func (r *rig) answerReads(d time.Duration) []Action {
	from := len(r.all)
	for end := r.now + d; r.now < end; {
		r.now += ms
		if r.reading != nil {
			r.do(r.look())
		} else {
			r.do(Tick{})
		}
	}
	return r.actions(from)
}

func TestRule1_NeverAdoptsAnotherBody(t *testing.T) {
	r := taker(t)
	_, c := r.createBegun()
	other := r.opened(c.Body)
	other.PID++ // the same claim, but not the bytes this run sent
	body, err := r.codec.Seal(other)
	require.NoError(t, err)
	r.chain[7] = body
	r.creates = true
	acts := r.do(Created{Op: c.Op, Outcome: Uncertain})
	acts = append(acts, r.pass(sec)...)
	for _, s := range of[StartRelay](acts) {
		require.NotEqualValues(t, 4, s.Epoch, "epoch 4 was never won")
	}
}

func TestRule1_NeverAdoptsAcrossTenures(t *testing.T) {
	r := leader(t)
	r.creates = false
	r.pass(3100 * ms)
	_, renewal := r.createBegun()
	require.Equal(t, lease.Held, r.opened(renewal.Body).State)
	r.do(Created{Op: renewal.Op, Outcome: Uncertain})
	r.creates, r.share = true, "gone" // the share is away until the tenure has expired
	r.lists = false
	acts := r.pass(12 * sec)
	require.NotEmpty(t, of[StopRelay](acts))
	require.NotEqual(t, Leader, r.m.Status().Role)
	// Now the renewal of the old tenure turns up.
	r.share, r.lists = share, true
	r.chain[renewal.Rev] = renewal.Body
	if r.reading != nil {
		r.do(r.look())
	}
	acts = r.pass(20 * sec)
	for _, s := range of[StartRelay](acts) {
		require.Greater(t, s.Epoch, r.opened(renewal.Body).Epoch, "the old tenure never runs again")
	}
	require.Equal(t, Leader, r.m.Status().Role, "it takes the lease anew")
}

func TestRule1_GoesOnWithTheNextRevAfterNoBody(t *testing.T) {
	t.Run("takeover", func(t *testing.T) {
		r := taker(t)
		acts := r.created(NoBody)
		acts = append(acts, r.pass(sec)...)
		require.EqualValues(t, 8, one[Create](t, acts).Rev)
	})
	t.Run("renewal", func(t *testing.T) {
		r := leader(t)
		r.creates = false
		r.pass(3100 * ms)
		_, c := r.createBegun()
		r.created(NoBody)
		r.pass(3100 * ms)
		_, next := r.createBegun()
		require.Equal(t, c.Rev+1, next.Rev)
		require.Equal(t, Leader, r.m.Status().Role)
		r.created(OK)
		require.Equal(t, next.Rev, r.m.Status().Rev)
	})
}
