package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// What is done at once, and what must not be done as fast as it is answered.

func TestUrgency_ANewAddressIsToldAtOnceAndOnce(t *testing.T) {
	r := settled(t)
	r.pass(100 * ms)
	c := one[Create](t, r.do(Moved{IP: "192.168.1.77"}))
	require.Equal(t, "192.168.1.77", r.opened(c.Body).IP)
	none[Create](t, r.pass(2*sec))
}

func TestUrgency_ARefusedRecordIsTriedAgainEachThirdOfFence(t *testing.T) {
	for name, what := range map[string]func(r *rig) Event{
		"a new address": func(*rig) Event { return Moved{IP: "192.168.1.77"} },
		"a lost guard":  func(r *rig) Event { return RelayDown{Gen: r.gen, Cause: DownGuard} },
		"a stop":        func(*rig) Event { return Handoff{Final: true, Reason: "stop"} },
	} {
		t.Run(name, func(t *testing.T) {
			r := settled(t)
			r.creates = false
			r.pass(100 * ms)
			r.do(what(r))
			require.Equal(t, 3, r.refused(1250*ms), "at once and twice more")
		})
	}
}

// A candidate whose share tells it nothing asks ever more rarely.
func TestUrgency_ATakeoverOfUnknownOutcomeIsTriedEverMoreRarely(t *testing.T) {
	r := taker(t)
	n := 0
	for range 600 {
		if c, ok := r.creating.(Create); ok {
			r.do(Created{Op: c.Op, Outcome: Uncertain})
			n++
		}
		r.pass(50 * ms)
	}
	require.Greater(t, n, 10)
	require.LessOrEqual(t, n, 4+30/2, "each POLL in the end")
	require.LessOrEqual(t, len(r.m.attempts.open), attemptsKept)
}

// The create of an older chain says nothing of the one in this: whoever has begun
// one above the head does not vouch for it.
func TestUrgency_NoVouchWhileTakingInASecondChain(t *testing.T) {
	r := taker(t)
	r.created(Unavailable)
	r.share = "7"
	next := func(rev uint64, change ...func(*lease.Record)) lease.Entry {
		return r.entry(rev, 5, idB, append(change, onShare("7"))...)
	}
	r.chain = map[uint64][]byte{20: next(20, roster(idA)).Body}
	r.pass(r.cfg.Poll + 10*ms)
	require.Equal(t, "7", r.m.Status().Share)
	if r.creating != nil { // one more in the chain that is gone
		r.created(NotExist)
	}
	one[SendVouch](t, r.hear(next(20, roster(idA)), 1))
	_, c := r.nextCreate(5 * sec)
	require.EqualValues(t, 21, c.Rev)
	none[SendVouch](t, r.hear(next(20, roster(idA)), 2))
}

func TestUrgency_TheBegunCreatesAreNotCounted(t *testing.T) {
	r := settled(t)
	r.pass(time.Minute)
	require.Len(t, r.m.attempts.begun, 1)
}

// Who is silent for TTL would not vouch either.
func TestUrgency_ATakerByTTLLeavesOutTheSilentHolder(t *testing.T) {
	r := newRig(t)
	r.aliveAll(idB, idC)
	r.put(r.entry(7, 4, idB, roster(idC)))
	r.do(TreeClear{})
	_, c := r.nextCreate(20 * sec)
	require.Equal(t, []lease.ID{idC}, r.opened(c.Body).Roster)
}

// killed lets the guard kill a relay at its deadline, and the next one start.
func (r *rig) killed() (acts []Action) {
	acts = r.do(RelayDown{Gen: r.gen, Cause: DownDeadline})
	return append(acts, r.pass(3*sec)...)
}

func TestCrash_APCTooSlowToStartAGuardRests(t *testing.T) {
	t.Run("it was never ready", func(t *testing.T) {
		r := settled(t)
		r.relays = false
		r.crash()
		for range 2 {
			require.Equal(t, RelayStarting, r.m.Status().Relay)
			r.killed()
		}
		require.Equal(t, Ineligible, r.m.Status().Role)
		require.Equal(t, reason.Of(reason.RelayLate), r.m.Status().Reasons)
	})
	t.Run("but goes on if it is the only one", func(t *testing.T) {
		r := leader(t)
		r.relays = false
		r.crash()
		for range 5 {
			r.killed()
			r.pass(20 * sec)
			require.Equal(t, Leader, r.m.Status().Role)
		}
	})
	t.Run("and a deadline that a running relay met is no failure", func(t *testing.T) {
		r := settled(t)
		for range 5 {
			require.Equal(t, RelayRunning, r.m.Status().Relay)
			r.killed()
		}
		require.Equal(t, Leader, r.m.Status().Role)
	})
}

// Two failures, then a quiet time: the next one is the first again.
func TestCrash_ARelayThatRanForAMinuteIsRestartedAtOnce(t *testing.T) {
	r := settled(t)
	r.crash()
	r.pass(100 * ms)
	r.crash()
	r.pass(2 * time.Minute)
	require.Equal(t, RelayRunning, r.m.Status().Relay)
	one[StartRelay](t, r.crash())
}

// A tenure that was lost while its relay started, and another one minutes later: the
// site has not gone without a relay for all that time.
func TestCrash_TheMinuteInVainBeginsWithTheTenure(t *testing.T) {
	r := settled(t)
	r.relays = false
	r.crash()
	require.Equal(t, RelayStarting, r.m.Status().Relay)
	e := r.entry(r.m.Status().Rev+1, 9, idB, roster(idA, idC))
	r.put(e)
	r.hear(e, 1)
	require.Equal(t, Client, r.m.Status().Role)
	r.beats(e, 2*time.Minute)
	r.pass(3 * sec)
	require.Equal(t, RelayStarting, r.m.Status().Relay)
	none[Create](t, onlyReleases(r, append(r.crash(), r.pass(100*ms)...)))
	require.Equal(t, Leader, r.m.Status().Role)
}
