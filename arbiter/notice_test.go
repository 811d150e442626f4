package arbiter

import (
	"fmt"
	"testing"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// What a member must take note of, as something later depends on it.

// The folder of this member alone has lost its chain (another disk under the same
// letter, an offline copy that was emptied) while the leader beats it with records
// it cannot find. It must not found a chain of its own beside that leader.
func TestNotice_ALeaderIsHeardWhileTheFolderIsEmpty(t *testing.T) {
	r := newRig(t)
	r.do(TreeClear{})
	r.aliveAll(idB)
	r.put(r.entry(7, 4, idB, roster(idA)))
	r.beats(r.entry(7, 4, idB, roster(idA)), 3*sec)
	r.share, r.chain = "", nil
	for rev := uint64(8); rev < 28; rev++ {
		acts := r.beats(r.entry(rev, 4, idB, roster(idA)), 3*sec)
		none[Found](t, acts)
		none[Create](t, acts)
	}
	require.Equal(t, Ineligible, r.m.Status().Role)
	require.True(t, reason.Has(r.m.Status().Reasons, reason.RecordUnseen))
}

// A tenure with a renewal of unknown outcome sees a record far above it: that is no
// record of its own, and needs no reading.
func TestNotice_ARecordFarAboveAnOpenRenewalIsALoss(t *testing.T) {
	r, _, again := unsure(t)
	theirs := r.entry(again.Rev+2, 9, idB)
	r.share = share
	r.chain[again.Rev+1], r.chain[again.Rev+2] = nil, theirs.Body
	for range 100 {
		if _, ok := r.reading.(List); ok {
			break
		}
		r.lists = false
		r.pass(50 * ms)
	}
	killsFirst(t, r, r.do(r.look()))
}

// The guard goes over nothing it was not told of: it is told before the create.
func TestNotice_TheGuardKnowsEachRevBeforeItsCreate(t *testing.T) {
	r := settled(t)
	from := len(r.all)
	r.pass(20 * sec)
	tip, n := r.m.Status().Rev, 0
	for _, s := range r.all[from:] {
		switch a := s.a.(type) {
		case SetWill:
			tip = a.Tip
		case Create:
			require.Equal(t, a.Rev, tip, "at %v", s.at)
			tip, n = 0, n+1
		}
	}
	require.Greater(t, n, 5)
}

func TestNotice_AReplayedBeatIsNotVouchedFor(t *testing.T) {
	r := onRoster(t)
	e := r.entry(7, 4, idB, roster(idA, idC))
	for num := uint64(1); num <= 5; num++ {
		one[SendVouch](t, r.hear(e, num))
	}
	for num := uint64(1); num <= 5; num++ {
		none[SendVouch](t, r.hear(e, num))
	}
	t.Run("of many leaders, the newest few", func(t *testing.T) {
		for i := range 3 * leadersKept {
			id := lease.ID{Node: fmt.Sprint("node-", i), Run: "x"}
			r.do(BeatReceived{From: id, Num: 1, Entry: r.entry(1, 1, id)})
		}
		require.LessOrEqual(t, len(r.m.peers.nums), leadersKept)
	})
}

// Until the tree is dead its roster must vouch, or a stop that asks nicely would be
// cut short; after that nobody need wait for it.
func TestNotice_BeatsGoOnUntilTheTreeIsDead(t *testing.T) {
	r, _ := handing(t)
	one[StopRelay](t, r.created(OK))
	require.NotEmpty(t, of[SendBeat](r.pass(sec)))
	r.do(RelayDown{Gen: r.gen, Cause: DownStopped})
	none[SendBeat](t, r.pass(sec))
}

func TestNotice_OldBeatsAreForgotten(t *testing.T) {
	r := settled(t)
	r.pass(60 * sec)
	require.LessOrEqual(t, len(r.m.tenure.beats), 14, "those of the last 2·FENCE")
}

func TestNotice_TheSuccessorThatWasNamed(t *testing.T) {
	for _, id := range []lease.ID{idB, idC} {
		r := settled(t)
		acts := r.do(Handoff{To: id, Reason: "asked"})
		require.Equal(t, id, r.releaseIn(append(acts, r.pass(sec)...)).Successor)
	}
}

// A founder goes above whatever it has heard of from any member.
func TestNotice_AFounderGoesAboveTheOthersRevAndEpoch(t *testing.T) {
	r := newRig(t, func(c *Config) { c.FloorRev, c.FloorEpoch = 48, 3 })
	r.do(TreeClear{})
	b, c := alive(idB), alive(idC)
	b.Share, b.Rev, b.Epoch = "", 50, 12
	c.Share, c.Rev, c.Epoch = "", 40, 13
	r.members(b, c)
	r.creates = false
	f := one[Found](t, r.pass(24*sec))
	require.EqualValues(t, 51, f.Rev)
	require.GreaterOrEqual(t, r.opened(f.Genesis).Epoch, uint64(13))
	t.Run("and tries again at once if the share was away", func(t *testing.T) {
		one[Found](t, append(r.do(Founded{Op: f.Op, Outcome: Unavailable}), r.pass(r.cfg.Poll+10*ms)...))
	})
}

// A dead leader's next record is looked for eagerly, but not for ever.
func TestNotice_ASearchThatFindsNothingSlowsDown(t *testing.T) {
	r := onRoster(t)
	r.do(Eligibility{Reasons: reason.Of(reason.Drained)})
	r.pass(30 * sec)
	require.LessOrEqual(t, len(of[Read](r.pass(10*r.cfg.Poll))), 11)
}

// Packets overtake each other: the answer to an older beat takes nothing back.
func TestNotice_AnOlderVouchTakesNothingBack(t *testing.T) {
	r := settled(t)
	r.creates, r.vouching = false, nil
	var nums []uint64
	for range 3 {
		r.pass(260 * ms)
		nums = append(nums, r.beat.Num)
	}
	vouch := func(num uint64) {
		for _, id := range []lease.ID{idB, idC} {
			r.do(VouchReceived{From: id, Run: idA.Run, Num: num})
		}
	}
	vouch(nums[2])
	until := r.m.Status().Deadline
	vouch(nums[0])
	vouch(nums[1])
	require.Equal(t, until, r.m.Status().Deadline)
	require.Len(t, r.m.tenure.vouchers, 2)
}

// The run before this one stays in the table for a while, called dead; another PC
// with this node's identity is told apart however often the table changes.
func TestNotice_AnEarlierRunIsNoCloneUnlessItLives(t *testing.T) {
	for name, lives := range map[string]bool{"dead": false, "alive": true} {
		t.Run(name, func(t *testing.T) {
			r := follower(t, func(r *rig) lease.Entry { return r.entry(7, 4, idB, figures(20*sec, 1500*ms)) })
			other := alive(lease.ID{Node: idA.Node, Run: "a0"})
			other.Alive = lives
			for i := range 10 {
				b := alive(idB)
				b.Rev = uint64(i)
				r.members(b, other)
				r.pass(sec)
			}
			require.Equal(t, lives, !r.m.Status().Eligible, r.m.Status().Reasons)
		})
	}
}

// It has vouched, and the LAN has been cut since; the leader goes on by renewing on the
// share. The newest record counts as well as the newest vouch, whichever is later.
func TestNotice_ARecordSeenAfterTheLastVouchIsWaitedFor(t *testing.T) {
	r := onRoster(t)
	r.pass(500*ms - r.now%ms)
	one[SendVouch](t, r.hear(r.entry(7, 4, idB, roster(idA, idC)), 1))
	r.pass(1200 * ms)
	e := r.entry(8, 4, idB, roster(idA, idC))
	r.put(e)
	seen := r.now
	r.do(HeadReceived{From: idC, Entry: e})
	r.createsAt(seen + 1550*ms)
}
