package arbiter

import (
	"errors"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// What is still under way when something else changes: a create that waits for the
// guard, one whose chain is gone, a release, a listing that was answered long ago.

// refusing is a Sealer that fails once it is told to.
type refusing struct {
	Sealer
	fails bool
}

func (s *refusing) Seal(r lease.Record) ([]byte, error) {
	if s.fails {
		return nil, errors.New("a record of 1,200 bytes")
	}
	return s.Sealer.Seal(r)
}

// untilsBeforeNaming are the deadlines that guards were told before a create names id.
func (r *rig) untilsBeforeNaming(id lease.ID) (told []time.Duration) {
	r.t.Helper()
	for _, s := range r.all {
		switch a := s.a.(type) {
		case StartRelay:
			told = append(told, a.Until)
		case SetUntil:
			told = append(told, a.Until)
		case Create:
			if containsID(r.opened(a.Body).Roster, id) {
				return told
			}
		}
	}
	r.t.Fatalf("no create names %v", id)
	return nil
}

// D answers each beat one beat late: a record that names it shortens the deadline.
// Its create begins after the guard was told, not on the way to it.
func TestPending_TheGuardKnowsBeforeACreateThatShortens(t *testing.T) {
	r := settled(t)
	r.aliveAll(idB, idC, idD)
	last := r.beat.Num
	for end := r.now + 5*sec; r.now < end; r.pass(ms) {
		if r.beat.Num != last {
			r.do(VouchReceived{From: idD, Run: idA.Run, Num: last})
			last = r.beat.Num
		}
	}
	told := r.untilsBeforeNaming(idD)
	require.Less(t, told[len(told)-1], told[len(told)-2], "the newest deadline told is a shorter one")
}

// refused lets d pass on a share that is unavailable for creates, and counts them.
func (r *rig) refused(d time.Duration) (n int) {
	for end := r.now + d; r.now < end; r.pass(ms) {
		if r.creating != nil {
			r.created(Unavailable)
			n++
		}
	}
	return n
}

// staged is a holder whose guard does not answer: the create that names one more
// member waits for it.
func staged(t *testing.T) *rig {
	t.Helper()
	r := settled(t)
	r.guards = false
	r.vouching = []lease.ID{idB, idC, idD}
	r.aliveAll(idB, idC, idD)
	r.pass(4200 * ms)
	require.NotNil(t, r.m.attempts.unsent(), "a create waits for the guard")
	return r
}

// A guard that dies never answers: the create that waits for it goes out, as there
// is nothing left to be told.
func TestPending_ADeadGuardHoldsUpNoCreate(t *testing.T) {
	r := staged(t)
	r.guards = true
	acts := r.do(RelayDown{Gen: r.gen, Cause: DownGuard, Note: "killed"})
	require.Contains(t, r.opened(of[Create](acts)[0].Body).Roster, idD)
	acts = append(acts, r.pass(2*sec)...)
	one[StartRelay](t, acts)
	require.Equal(t, RelayRunning, r.m.Status().Relay)
}

// A dead guard and a share that refuses at once: the holder asks again every
// FENCE/3, not as fast as the share answers.
func TestPending_ALostGuardDoesNotMakeItHammerTheShare(t *testing.T) {
	r := settled(t)
	r.creates = false
	r.pass(100 * ms)
	r.do(RelayDown{Gen: r.gen, Cause: DownGuard, Note: "killed"})
	require.LessOrEqual(t, r.refused(sec), 3, "in a second, with FENCE/3 of 500 ms")
}

// A record that cannot be sealed costs the tenure at its deadline; until then it is
// tried as often as any renewal, and said as often.
func TestPending_ARecordThatCannotBeSealed(t *testing.T) {
	s := &refusing{}
	r := leaderOf(t, func(c *Config) { s.Sealer, c.Sealer = c.Sealer, s }, idB, idC)
	s.fails = true
	acts := r.pass(8 * sec)
	none[Create](t, acts)
	none[StopRelay](t, acts)
	require.Contains(t, reports(acts), "1,200 bytes")
	require.Less(t, len(of[Report](acts)), 10)
	acts = r.pass(8 * sec)
	one[StopRelay](t, acts)
	require.Less(t, len(of[Report](acts)), 30)
}

// The same of a release: the lease is dropped, and whoever waits is told so.
func TestPending_AReleaseThatCannotBeSealed(t *testing.T) {
	s := &refusing{}
	r := leaderOf(t, func(c *Config) { s.Sealer, c.Sealer = c.Sealer, s }, idB, idC)
	r.guards = false
	acts := append(r.do(Handoff{Final: true, Reason: "stop"}), r.pass(sec)...)
	s.fails, r.guards = true, true
	acts = append(acts, r.do(RelayDown{Gen: r.gen, Cause: DownStopped})...)
	acts = append(acts, r.pass(sec)...)
	one[StopRelay](t, acts)
	one[Finished](t, acts)
	require.NotEqual(t, Leader, r.m.Status().Role)
}

// A create waits for a guard that does not answer, and the daemon is stopped. It
// goes first, once the tree is dead; the release follows above it.
func TestPending_AReleaseWaitsForACreateThatWaited(t *testing.T) {
	r := staged(t)
	acts := append(r.do(Handoff{Final: true, Reason: "stop"}), r.pass(1600*ms)...)
	one[StopRelay](t, acts)
	none[Create](t, acts)
	r.creates = false
	acts = r.do(RelayDown{Gen: r.gen, Cause: DownStopped})
	held := one[Create](t, acts)
	require.Equal(t, lease.Held, r.opened(held.Body).State)
	c := one[Create](t, append(r.created(OK), r.pass(sec)...))
	require.Equal(t, held.Rev+1, c.Rev)
	require.Equal(t, lease.Released, r.opened(c.Body).State)
	one[Finished](t, append(r.created(OK), r.pass(sec)...))
}

// A daemon that stops beside a share that hangs waits FENCE for its renewal, not
// until the lease runs out.
func TestPending_AStopBesideAHangingShareWaitsForFence(t *testing.T) {
	r := settled(t)
	r.creates = false
	r.pass(100 * ms)
	none[StopRelay](t, append(r.do(Handoff{Final: true, Reason: "stop"}), r.pass(1400*ms)...))
	one[StopRelay](t, r.pass(200*ms))
}

// Whatever makes a record urgent (here a new address) makes none once a release was
// attempted.
func TestPending_NoRenewalAfterAReleaseWasAttempted(t *testing.T) {
	r, c := releasing(t)
	epoch := r.opened(c.Body).Epoch
	acts := append(r.created(Unavailable), r.pass(10*ms)...)
	acts = append(acts, r.do(Moved{IP: "192.168.1.77"})...)
	for range 20 {
		if r.creating != nil {
			acts = append(acts, r.created(Unavailable)...)
		}
		acts = append(acts, r.pass(100*ms)...)
	}
	require.NotEmpty(t, of[Create](acts))
	for _, x := range of[Create](acts) {
		rec := r.opened(x.Body)
		require.True(t, rec.Epoch > epoch || rec.State == lease.Released, "held record %d after a release", rec.Rev)
	}
}

// The chain of a create under way was replaced by another one. Its late success is
// a record of a chain that is gone, and says nothing of the new one.
func TestPending_ACreateInAChainThatIsGoneWinsNothing(t *testing.T) {
	for _, out := range []Outcome{OK, Exists, NoBody} {
		t.Run(out.String(), func(t *testing.T) {
			r := taker(t)
			_, c := r.createBegun()
			r.share = "7"
			r.chain = map[uint64][]byte{6: r.entry(6, 3, idB, onShare("7")).Body}
			r.pass(r.cfg.Poll + 10*ms)
			require.Equal(t, "7", r.m.Status().Share)
			acts := r.do(Created{Op: c.Op, Outcome: out})
			acts = append(acts, r.pass(sec)...)
			none[StartRelay](t, acts)
			none[Create](t, acts)
			require.EqualValues(t, 6, r.m.Status().Rev)
		})
	}
}

// A handoff whose renewal finds the folder gone is dropped: the relay goes on for
// as long as the roster vouches.
func TestPending_AHandoffBesideAWipedFolderIsDropped(t *testing.T) {
	r := settled(t)
	chain := r.chain
	r.share, r.chain = "", nil
	r.pass(r.cfg.Poll + 10*ms)
	acts := r.do(Handoff{To: idB, Reason: "asked"})
	acts = append(acts, r.pass(3*sec)...)
	none[StopRelay](t, acts)
	require.Contains(t, reports(acts), string(reason.HandoffUnconfirmed))
	r.share, r.chain = share, chain
	none[StopRelay](t, r.pass(20*sec)) // dropped is dropped
	require.Equal(t, Leader, r.m.Status().Role)
}

// A create that fails for want of the share is no answer of the share.
func TestPending_AFailedCreateIsNoAnswer(t *testing.T) {
	r := taker(t)
	r.lists = false
	for range 300 {
		if r.creating != nil {
			r.created(Unavailable)
		}
		if r.reading != nil {
			r.unavailable()
		}
		r.pass(100 * ms)
	}
	require.Equal(t, Ineligible, r.m.Status().Role)
	require.Equal(t, reason.Of(reason.ShareSilent), r.m.Status().Reasons)
}

// unavailable answers the outstanding List or Read as a share out of reach.
func (r *rig) unavailable() []Action {
	switch a := r.reading.(type) {
	case List:
		return r.do(Listed{Op: a.Op, Outcome: Unavailable})
	case Read:
		return r.do(ReadDone{Op: a.Op, Outcome: Unavailable})
	}
	return nil
}

// The wait is over, but the sight of an empty folder is older than POLL allows: it
// is looked at once more before a chain is founded.
func TestPending_NoChainIsFoundedOnAnOldSight(t *testing.T) {
	r := newRig(t)
	r.do(TreeClear{})
	free := r.observedAt() + prime(20*sec)
	r.run(free - 8*sec)
	r.lists = false
	none[Found](t, r.run(free+2*sec))
	require.NotNil(t, r.reading)
	r.lists = true
	r.put(r.entry(6, 3, idB))
	none[Found](t, append(r.do(r.look()), r.pass(5*sec)...))
}

// The head and the record below cannot be read for now: nothing is taken over
// before the newest readable record, and so the epoch, is known.
func TestPending_ATakeoverWaitsForTheRecordBelow(t *testing.T) {
	r := newRig(t)
	r.lists = false
	r.put(r.entry(5, 3, idB))
	r.put(r.entry(6, 9, idB))
	r.chain[7] = []byte("damaged")
	r.do(TreeClear{})
	step := func(below bool) (acts []Action) {
		if a, ok := r.reading.(Read); ok && a.Rev < 7 && !below {
			acts = r.unavailable()
		} else if r.reading != nil {
			acts = r.do(r.look())
		}
		return append(acts, r.pass(10*ms)...)
	}
	for range 3000 {
		none[Create](t, step(false))
	}
	var acts []Action
	for range 300 {
		acts = append(acts, step(true)...)
	}
	rec := r.opened(of[Create](acts)[0].Body)
	require.EqualValues(t, 8, rec.Rev)
	require.EqualValues(t, 9+2, rec.Epoch)
}

// A listing that was wanted for a takeover is wanted no more afterwards.
func TestPending_AfterATakeoverItListsEachPoll(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(7, 4, idB, roster(idC)))
	r.do(TreeClear{})
	r.nextCreate(20 * sec)
	require.Equal(t, Leader, r.m.Status().Role)
	r.pass(sec)
	require.LessOrEqual(t, len(of[List](r.pass(10*r.cfg.Poll))), 11)
}
