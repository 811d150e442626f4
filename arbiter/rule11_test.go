package arbiter

import (
	"strings"
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

func TestKnown_NextEpoch(t *testing.T) {
	tests := []struct {
		k    known
		rev  uint64
		want uint64
	}{
		{known{}, 1, 1},
		{known{7, 4}, 8, 5},
		{known{7, 4}, 9, 6}, // one unreadable record between: it may have been epoch 5
		{known{7, 4}, 17, 14},
		{known{41, 12}, 3, 13}, // a new chain with lower revs
		{known{41, 12}, 41, 13},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.k.nextEpoch(tt.rev), "%+v at rev %d", tt.k, tt.rev)
	}
}

func TestRule11_OneEpochPerTenure(t *testing.T) {
	r := settled(t)
	epoch := r.m.Status().Epoch
	_, recs := r.renewals(time.Minute)
	for _, rec := range recs {
		require.Equal(t, epoch, rec.Epoch)
	}
	acts := r.do(RelayDown{Gen: r.gen, Cause: DownExited})
	acts = append(acts, r.pass(5*sec)...)
	require.Equal(t, epoch, one[StartRelay](t, acts).Epoch, "a restart is no new tenure")
}

func TestRule11_GrowsOverUnreadableRecords(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(6, 3, idB))
	r.pass(10 * ms) // epoch 3 is known
	r.hear(r.entry(6, 3, idB), 1)
	for rev := uint64(7); rev <= 10; rev++ {
		r.chain[rev] = nil
	}
	r.do(TreeClear{})
	_, c := r.nextCreate(30 * sec)
	rec := r.opened(c.Body)
	require.EqualValues(t, 11, rec.Rev)
	require.EqualValues(t, 3+5, rec.Epoch)
}

func TestRule11_AChainNobodyHereCouldReadAnyOf(t *testing.T) {
	r := newRig(t, func(c *Config) { c.FloorRev, c.FloorEpoch = 5, 2 })
	r.share = share
	for rev := uint64(6); rev <= 9; rev++ {
		r.chain[rev] = make([]byte, 180)
	}
	r.do(TreeClear{})
	_, c := r.nextCreate(30 * sec)
	require.EqualValues(t, 10, c.Rev)
	require.EqualValues(t, 2+5, r.opened(c.Body).Epoch)
}

func TestRule11_ANewChainGoesOnAboveAllThatIsKnown(t *testing.T) {
	r := newRig(t, func(c *Config) { c.FloorRev, c.FloorEpoch = 41, 12 })
	r.do(TreeClear{})
	m := alive(idB)
	m.Share, m.Rev, m.Epoch, m.Eligible = "", 60, 20, false
	r.members(m)
	acts := r.pass(26 * sec)
	f := one[Found](t, acts)
	require.EqualValues(t, 61, f.Rev)
	require.GreaterOrEqual(t, r.opened(f.Genesis).Epoch, uint64(20))
	start := one[StartRelay](t, acts)
	require.Greater(t, start.Epoch, r.opened(f.Genesis).Epoch)
}

func TestRule11_TwoMembersThatFoundTogetherShareOneChain(t *testing.T) {
	r := newRig(t)
	r.creates = false
	r.do(TreeClear{})
	r.pass(23 * sec)
	f := r.creating.(Found)
	// Somebody else's chain was moved into place first.
	e := r.entry(1, 7, idB, released(lease.ID{}))
	r.put(e)
	r.creates = true
	acts := r.do(Founded{Op: f.Op, Outcome: Exists})
	acts = append(acts, r.pass(2*sec)...)
	c := of[Create](acts)[0]
	require.EqualValues(t, 2, c.Rev)
	require.EqualValues(t, 8, r.opened(c.Body).Epoch)
}

func TestRule11_AStrayFileDoesNotEndTheChain(t *testing.T) {
	r := onRoster(t)
	e := r.entry(7, 4, idB, roster(idA, idC))
	r.chain[9_999_999_999] = nil
	r.chain[1_500_000] = []byte("note to self")
	acts := r.beats(e, 5*sec)
	require.EqualValues(t, 7, r.m.Status().Rev)
	require.Contains(t, reports(acts), "9999999999", "it is reported")
	require.Contains(t, reports(acts), lease.RecordName(r.m.Status().Share, 9_999_999_999))
	require.Equal(t, 1, strings.Count(reports(append(acts, r.beats(e, 20*sec)...)), string(reason.RecordIgnored)), "once")
	delete(r.chain, 9_999_999_999)
	require.Contains(t, reports(r.beats(e, 5*sec)), "rev=1500000", "a change is said")
	_, c := r.nextCreate(5 * sec)
	require.EqualValues(t, 8, c.Rev)
	require.EqualValues(t, 5, r.opened(c.Body).Epoch)
}

func TestRule11_AFarRecordThatCanBeReadIsBelieved(t *testing.T) {
	r := onRoster(t)
	far := r.entry(5000, 40, idC, roster(idA))
	r.put(far)
	acts := r.beats(r.entry(7, 4, idB, roster(idA, idC)), 5*sec)
	creates := of[Create](acts)
	require.NotEmpty(t, creates)
	c := creates[0]
	require.EqualValues(t, 5001, c.Rev)
	require.EqualValues(t, 41, r.opened(c.Body).Epoch)
}

func TestRule11_ReadsDownToTheNewestReadableRecord(t *testing.T) {
	r := newRig(t, func(c *Config) { c.FloorRev, c.FloorEpoch = 4, 2 })
	r.put(r.entry(5, 3, idB))
	r.put(r.entry(40, 9, idB))
	for rev := uint64(41); rev <= 43; rev++ {
		r.chain[rev] = nil
	}
	r.do(TreeClear{})
	_, c := r.nextCreate(30 * sec)
	rec := r.opened(c.Body)
	require.EqualValues(t, 44, rec.Rev)
	require.EqualValues(t, 9+4, rec.Epoch, "reckoned from rev 40, not from what this node happened to know")
}

func TestRule11_ReckonsFromThisChainWhateverTheFloor(t *testing.T) {
	r := newRig(t, func(c *Config) { c.FloorRev, c.FloorEpoch = 500, 3 })
	r.put(r.entry(104, 12, idB))
	r.chain[105] = nil
	r.do(TreeClear{})
	_, c := r.nextCreate(30 * sec)
	require.EqualValues(t, 12+2, r.opened(c.Body).Epoch)
}
