package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// onShareID is a live member on another share.
func onShareID(id lease.ID, share string) Member {
	m := alive(id)
	m.Share = share
	return m
}

func TestRule10_TheLowestShareWins(t *testing.T) {
	t.Run("a holder on a higher one steps down", func(t *testing.T) {
		r := settled(t)
		killsFirst(t, r, r.members(alive(idB), onShareID(idC, "4")))
		s := r.m.Status()
		require.Equal(t, Ineligible, s.Role)
		require.Equal(t, "POS-C", s.Reasons[0].Station)
		none[Create](t, r.pass(time.Minute))
	})
	t.Run("a holder on the lowest stays", func(t *testing.T) {
		r := settled(t)
		none[StopRelay](t, append(r.members(alive(idB), onShareID(idC, "9")), r.pass(time.Minute)...))
	})
	t.Run("a dead member does not count", func(t *testing.T) {
		r := settled(t)
		m := onShareID(idC, "4")
		m.Alive = false
		none[StopRelay](t, append(r.members(alive(idB), m), r.pass(time.Minute)...))
	})
	t.Run("a member that sees no share does not count", func(t *testing.T) {
		r := settled(t)
		none[StopRelay](t, append(r.members(alive(idB), onShareID(idC, "")), r.pass(time.Minute)...))
	})
	t.Run("a client on a higher one never takes over", func(t *testing.T) {
		r := onRoster(t)
		r.members(onShareID(idC, "4"))
		none[Create](t, r.pass(5*time.Minute))
		require.Equal(t, Ineligible, r.m.Status().Role)
	})
	t.Run("and may again once the other is gone", func(t *testing.T) {
		r := onRoster(t)
		r.members(onShareID(idC, "4"))
		r.pass(time.Minute)
		acts := r.members()
		acts = append(acts, r.pass(3*sec)...)
		require.NotEmpty(t, of[Create](acts))
	})
	t.Run("nobody founds a chain beside one", func(t *testing.T) {
		r := newRig(t)
		r.do(TreeClear{})
		r.members(onShareID(idC, "9"))
		none[Found](t, r.pass(5*time.Minute))
		require.Equal(t, "POS-C", r.m.Status().Reasons[0].Station)
	})
}

func TestRule10_MessagesOfAnotherShareAreIgnored(t *testing.T) {
	t.Run("beats", func(t *testing.T) {
		r := onRoster(t)
		none[SendVouch](t, r.hear(r.entry(30, 9, idC, onShare("9")), 1))
		require.EqualValues(t, 7, r.m.Status().Rev)
		require.EqualValues(t, 4, r.m.Status().Epoch)
	})
	t.Run("heads", func(t *testing.T) {
		r := settled(t)
		none[StopRelay](t, r.do(HeadReceived{From: idC, Entry: r.entry(99, 9, idC, onShare("9"))}))
	})
	t.Run("members on the roster", func(t *testing.T) {
		r := settled(t)
		r.members(alive(idB), onShareID(idC, "9"))
		r.pass(2 * sec)
		require.Equal(t, []lease.ID{idB}, r.m.Status().Roster)
	})
}

func TestRule10_ARecordTheShareDoesNotShowMakesIneligible(t *testing.T) {
	beat := func(r *rig) lease.Entry { return r.entry(8, 4, idB, roster(idA, idC)) }
	limit := 2*2*sec + 10*sec
	t.Run("never shown", func(t *testing.T) {
		r := onRoster(t)
		from := r.now
		acts := r.beats(beat(r), limit-250*ms)
		require.NotEqual(t, Ineligible, r.m.Status().Role)
		acts = append(acts, r.beats(beat(r), 500*ms)...)
		s := r.m.Status()
		require.Equal(t, Ineligible, s.Role, "%v after the first beat", r.now-from)
		require.Equal(t, []reason.Reason{{Code: reason.RecordUnseen, Rev: 8}}, s.Reasons)
		require.False(t, s.Eligible)
		none[Create](t, append(acts, r.pass(5*time.Minute)...))
	})
	t.Run("silence does not make an offline copy the share", func(t *testing.T) {
		r := onRoster(t)
		r.beats(beat(r), 5*sec) // then the LAN is cut, and B goes on on the real share
		none[Create](t, r.beats(r.entry(8, 4, idB, roster(idA, idC)), 10*sec))
		none[Create](t, r.pass(time.Hour))
		require.Equal(t, Ineligible, r.m.Status().Role)
	})
	t.Run("unless the folder was emptied under all", func(t *testing.T) {
		r := onRoster(t)
		r.beats(beat(r), sec)
		r.share, r.chain = "", map[uint64][]byte{}
		acts := r.beats(beat(r), 8*sec)
		none[Found](t, append(acts, r.pass(10*sec)...))
		acts = r.pass(40 * sec)
		one[Found](t, acts)
		require.Equal(t, Leader, r.m.Status().Role)
	})
	t.Run("shown in time", func(t *testing.T) {
		r := onRoster(t)
		r.beats(beat(r), limit-3*sec)
		r.put(beat(r))
		r.beats(beat(r), time.Minute)
		require.Equal(t, Client, r.m.Status().Role)
	})
	t.Run("shown late", func(t *testing.T) {
		r := onRoster(t)
		r.beats(beat(r), limit+5*sec)
		require.Equal(t, Ineligible, r.m.Status().Role)
		r.put(beat(r))
		r.beats(beat(r), 5*sec)
		require.Equal(t, Client, r.m.Status().Role)
	})
	t.Run("a growing chain of which nothing is shown", func(t *testing.T) {
		r := onRoster(t)
		for rev := uint64(8); rev < 16; rev++ {
			r.beats(r.entry(rev, 4, idB, roster(idA, idC)), 3*sec)
		}
		require.Equal(t, Ineligible, r.m.Status().Role)
	})
}

func TestRule10_TwoLiveRunsOfOneNode(t *testing.T) {
	clone := alive(lease.ID{Node: idA.Node, Run: "a9"})
	clone.Station, clone.Addr = "POS-CLONE", "192.168.1.77:7946"
	t.Run("a follower", func(t *testing.T) {
		r := onRoster(t)
		r.members(clone)
		e := r.entry(7, 4, idB, roster(idA, idC))
		r.beats(e, 10*sec)
		s := r.m.Status()
		require.Equal(t, Ineligible, s.Role)
		require.Equal(t, reason.CloneRuns, s.Reasons[0].Code)
		require.Equal(t, "192.168.1.77:7946", s.Reasons[0].Addr)
		require.Equal(t, r.cfg.IP, s.Reasons[0].OwnAddr, "both addresses are shown")
		none[Create](t, r.pass(time.Minute))
	})
	t.Run("the holder hands over", func(t *testing.T) {
		r := settled(t)
		r.members(alive(idB), alive(idC), clone)
		acts := r.pass(10 * sec)
		require.NotEmpty(t, of[StopRelay](acts))
		require.Equal(t, Ineligible, r.m.Status().Role)
	})
	t.Run("the clone's record is not ours", func(t *testing.T) {
		r := follower(t, func(r *rig) lease.Entry {
			return r.entry(7, 4, clone.ID, func(x *lease.Record) { x.Boot = "other" })
		})
		none[Create](t, r.run(r.observedAt()+10*sec))
	})
	t.Run("a restart's old run is forgotten in time", func(t *testing.T) {
		r := onRoster(t)
		r.members(clone)
		e := r.entry(7, 4, idB, roster(idA, idC))
		r.beats(e, 2500*ms)
		require.Equal(t, Client, r.m.Status().Role, "gossip needs a while to notice")
		r.members()
		r.beats(e, 20*sec)
		require.Equal(t, Client, r.m.Status().Role)
	})
}

func TestRule10_AnotherChainIsFollowedFromScratch(t *testing.T) {
	r := onRoster(t)
	e := r.entry(3, 2, idB, onShare("4"), roster(idA))
	r.share, r.chain = "4", map[uint64][]byte{3: e.Body}
	r.beats(r.entry(7, 4, idB, roster(idA, idC)), 2500*ms)
	require.Equal(t, "4", r.m.Status().Share)
	_, c := r.nextCreate(10 * sec)
	rec := r.opened(c.Body)
	require.EqualValues(t, 4, rec.Rev)
	require.Equal(t, "4", rec.Share)
	require.Greater(t, rec.Epoch, uint64(4), "epochs never fall, even over a new chain")
}

func TestRule10_AHolderDoesNotChangeChains(t *testing.T) {
	r := settled(t)
	e := r.entry(3, 2, idB, onShare("4"))
	r.share, r.chain = "4", map[uint64][]byte{3: e.Body}
	acts := r.pass(9 * sec)
	for _, c := range of[Create](acts) {
		require.Equal(t, share, c.Share)
	}
	r.pass(3 * sec) // its creates fail: no later than TTL it is over
	require.NotEqual(t, RelayRunning, r.m.Status().Relay)
}
