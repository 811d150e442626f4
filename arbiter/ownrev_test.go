package arbiter

import (
	"testing"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// What a holder makes of a record at the very rev it is creating, or has tried to
// create: its own that got through although nobody said so, or somebody else's.

// unsure is a settled leader one renewal of which had no known outcome, and the
// same rev of which is being created again, with other bytes.
func unsure(t *testing.T) (r *rig, first, again Create) {
	t.Helper()
	r = settled(t)
	r.creates = false
	_, first = r.nextCreate(5 * sec)
	r.do(Created{Op: first.Op, Outcome: Uncertain})
	r.do(Moved{IP: "192.168.1.77"})
	_, again = r.nextCreate(5 * sec)
	require.Equal(t, first.Rev, again.Rev)
	require.NotEqual(t, first.Body, again.Body)
	return r, first, again
}

// told is the record with this body, sent by a member as the newest it knows.
func (r *rig) told(c Create, body []byte) []Action {
	return r.do(HeadReceived{From: idB, Entry: r.codec.Open(c.Share, c.Rev, body)})
}

func TestOwnRev_ARenewalFoundLaterIsFollowedByOthers(t *testing.T) {
	r, first, again := unsure(t)
	r.chain[first.Rev] = first.Body
	r.creates = true
	acts := r.do(Created{Op: again.Op, Outcome: Exists})
	require.Equal(t, first.Rev, r.m.Status().Rev, "read and adopted")
	acts = append(acts, r.pass(30*sec)...)
	none[StopRelay](t, acts)
	require.Greater(t, r.m.Status().Rev, first.Rev+7, "and renewed every 3 s")
}

func TestOwnRev_ItsFirstTryIsFoundWhileTheSecondIsUnderWay(t *testing.T) {
	r, first, again := unsure(t)
	r.chain[first.Rev] = first.Body
	r.creates = true
	acts := r.told(first, first.Body)
	acts = append(acts, r.do(Created{Op: again.Op, Outcome: Exists})...)
	acts = append(acts, r.pass(30*sec)...)
	none[StopRelay](t, acts)
	require.Equal(t, Leader, r.m.Status().Role)
	require.Greater(t, r.m.Status().Rev, first.Rev+7)
}

func TestOwnRev_AStrangersRecordStopsTheRelayBeforeTheCreateHasFailed(t *testing.T) {
	r, _, again := unsure(t)
	theirs := r.entry(again.Rev, 9, idB)
	r.put(theirs)
	killsFirst(t, r, r.told(again, theirs.Body))
	require.Equal(t, again.Rev, r.m.Status().Rev, "and it follows that record")
}

func TestOwnRev_AStrangersRecordThatHadToBeReadIsFollowed(t *testing.T) {
	r, _, again := unsure(t)
	theirs := r.entry(again.Rev, 9, idB, roster(idA))
	r.put(theirs)
	r.creates = true
	acts := r.do(Created{Op: again.Op, Outcome: Exists})
	one[StopRelay](t, acts)
	require.Equal(t, theirs.Body, r.m.Status().Head.Body)
	none[Create](t, append(acts, r.pass(sec)...))
}

// The renewal a stop began with got through unnoticed, so the release meets it at
// its own rev: it goes above that record, and not at last when TTL has run out.
func TestOwnRev_AReleaseGoesAboveARenewalThatGotThrough(t *testing.T) {
	r := settled(t)
	r.creates = false
	r.pass(100 * ms)
	held := one[Create](t, r.do(Handoff{Final: true, To: idB, Reason: "stop"}))
	require.Equal(t, lease.Held, r.opened(held.Body).State)
	r.apply()
	r.creates, r.lists = false, false // it is not found before the release is tried
	r.do(Created{Op: held.Op, Outcome: Uncertain})
	var acts []Action
	for range 20 {
		acts = append(acts, r.pass(100*ms)...)
		if c, ok := r.creating.(Create); ok && r.opened(c.Body).State == lease.Held {
			acts = append(acts, r.created(Unavailable)...)
		}
	}
	tried := r.releaseIn(acts)
	require.Equal(t, held.Rev, tried.Rev)
	acts = r.created(Exists)
	r.creates, r.lists = true, true
	acts = append(acts, r.do(r.look())...)
	acts = append(acts, r.pass(sec)...)
	rec := r.releaseIn(acts)
	require.Equal(t, held.Rev+1, rec.Rev)
	require.Equal(t, idB, rec.Successor)
	require.Equal(t, lease.Released, r.m.Status().Head.Record.State)
	one[Finished](t, acts)
}
