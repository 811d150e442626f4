package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// What a member believes of a chain that comes and goes, or has gone on for long
// without it.

// A chain was there for one look between two of an empty folder, or nothing could be
// seen for a while: its holder may run until TTL after that.
func TestChainSeen_TheWaitForAnEmptyFolderBeginsAnew(t *testing.T) {
	for name, between := range map[string]func(r *rig){
		"after a chain was seen": func(r *rig) {
			r.share, r.chain = share, map[uint64][]byte{7: r.entry(7, 4, idB).Body}
			none[Found](t, r.pass(r.cfg.Poll))
			r.share, r.chain = "", nil
		},
		"after nothing was seen": func(r *rig) {
			r.lists = false
			none[Found](t, r.pass(8*sec))
			r.lists = true
			none[Found](t, r.do(r.look()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.do(TreeClear{})
			none[Found](t, r.pass(12*sec))
			between(r)
			none[Found](t, r.pass(prime(20*sec)))
			one[Found](t, r.pass(4*sec))
		})
	}
}

// The same of a chain that this member has followed before.
func TestChainSeen_TheWaitBeginsAnewWhenTheSameChainIsBack(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(7, 4, idB, figures(20*sec, 1500*ms)))
	r.do(TreeClear{})
	require.EqualValues(t, 7, r.m.Status().Rev)
	chain := r.chain
	r.pass(sec)
	r.share, r.chain = "", nil
	none[Found](t, r.pass(12*sec))
	r.share, r.chain = share, chain
	none[Found](t, r.pass(r.cfg.Poll))
	r.share, r.chain = "", nil
	none[Found](t, r.pass(prime(20*sec)))
	one[Found](t, r.pass(4*sec))
}

// Gossip has named a chain that this member's listings never showed.
func TestChainSeen_TheWaitBeginsAnewWhenGossipNamesAChain(t *testing.T) {
	r := newRig(t)
	r.do(TreeClear{})
	none[Found](t, r.pass(15*sec))
	b := alive(idB)
	b.Share = "4"
	r.members(b)
	b.Alive = false
	r.pass(sec)
	r.members(b)
	none[Found](t, r.pass(prime(20*sec)))
	one[Found](t, r.pass(4*sec))
}

// A listing shows a file far above that is gone, or that the share does not hand out.
func TestChainSeen_AnUnreadableStrayIsNotReadWithoutEnd(t *testing.T) {
	for _, out := range []Outcome{NotExist, Denied, Unavailable} {
		t.Run(out.String(), func(t *testing.T) {
			r := onRoster(t)
			r.chain[stray] = nil
			r.lists = false
			n := 0
			for range 1000 {
				if a, ok := r.reading.(Read); ok && a.Rev == stray {
					r.do(ReadDone{Op: a.Op, Outcome: out})
					n++
				} else if r.reading != nil {
					r.do(r.look())
				}
				r.pass(10 * ms)
			}
			require.Positive(t, n)
			require.LessOrEqual(t, n, 6, "once with each listing, each POLL")
		})
	}
}

// Another chain took the place of the holder's. It stays with its own until its
// tenure ends: the relay goes on for as long as the roster vouches.
func TestChainSeen_AHolderStaysWithItsOwnChain(t *testing.T) {
	r := settled(t)
	id := r.m.Status().Share
	r.share = "7"
	r.chain = map[uint64][]byte{100: r.entry(100, 9, idB, onShare("7")).Body}
	none[StopRelay](t, r.pass(3*r.cfg.Poll))
	require.Equal(t, id, r.m.Status().Share)
	require.Equal(t, Leader, r.m.Status().Role)
}

// slept is an outsider that knows record 10, and a chain that went on for hours.
func slept(t *testing.T, top func(r *rig) []byte, strays ...uint64) *rig {
	t.Helper()
	r := newRig(t)
	r.do(TreeClear{})
	r.put(r.entry(10, 3, idB))
	r.pass(3 * sec)
	require.EqualValues(t, 10, r.m.Status().Rev)
	delete(r.chain, 10)
	for rev := uint64(3000); rev <= 3005; rev++ {
		r.chain[rev] = top(r)
	}
	for _, rev := range strays {
		r.chain[rev] = nil
	}
	return r
}

const stray = lease.MaxRev

// Record 11 could be created once more: housekeeping has deleted the first one long
// ago. Whoever takes the chain for a stray file would run beside its holder.
func TestChainSeen_AChainThatWentOnIsFollowed(t *testing.T) {
	unreadable := func(*rig) []byte { return nil }
	readable := func(r *rig) []byte { return r.entry(3005, 8, idB).Body }
	for name, start := range map[string]func(t *testing.T) *rig{
		"unreadable":           func(t *testing.T) *rig { return slept(t, unreadable) },
		"readable":             func(t *testing.T) *rig { return slept(t, readable) },
		"readable and a stray": func(t *testing.T) *rig { return slept(t, readable, stray) },
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			acts := r.pass(6 * sec)
			require.EqualValues(t, 3005, r.m.Status().Rev)
			require.LessOrEqual(t, len(of[Read](acts)), 60, "it does not read for ever")
			for _, c := range of[Create](append(acts, r.pass(30*sec)...)) {
				require.Greater(t, c.Rev, uint64(3005))
			}
		})
	}
}

func TestChainSeen_TheReadinessOfAnEarlierRelayCountsForNoOther(t *testing.T) {
	r := settled(t)
	r.relays = false
	r.crash()
	require.Equal(t, RelayStarting, r.m.Status().Relay)
	r.do(RelayReady{Gen: r.gen - 1, PID: 1})
	require.Equal(t, RelayStarting, r.m.Status().Relay)
}

// The folder of this member is another one since a while ago, and empty: as long as
// the chain it followed grows for somebody else, it founds none. One that stands
// still for TTL_MAX' has no holder; if somebody still sees it, he has as long again to
// take it over.
func TestChainSeen_NoneIsFoundedWhileOneGrowsElsewhere(t *testing.T) {
	for name, tc := range map[string]struct {
		share string // what B names in the end
		wait  time.Duration
	}{
		"B still sees it": {share, 2 * prime(20*sec)},
		"nobody sees it":  {"", prime(20 * sec)},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.do(TreeClear{})
			r.put(r.entry(7, 4, idB))
			r.pass(3 * sec)
			require.EqualValues(t, 7, r.m.Status().Rev)
			r.share, r.chain = "", nil
			b := alive(idB)
			b.Share = share
			for b.Rev = 8; b.Rev < 20; b.Rev++ {
				none[Found](t, append(r.members(b), r.pass(10*sec)...))
			}
			other, ok := reason.Find(r.m.Status().Reasons, reason.FolderOther)
			require.True(t, ok)
			require.Equal(t, b.Station, other.Station)
			acts := r.members(b)
			b.Share = tc.share
			none[Found](t, append(append(acts, r.members(b)...), r.pass(tc.wait)...))
			one[Found](t, r.pass(4*sec))
		})
	}
}

// Two folders by mistake, ours outranks the other. Its leader steps down when it
// hears of us; until then, and until its relay is surely dead, nobody takes over
// here.
func TestRule10_ALeaderInAnotherFolderIsWaitedFor(t *testing.T) {
	r := newRig(t)
	r.do(TreeClear{})
	b := alive(idB)
	b.Share, b.Leads = share+"0", true
	r.put(r.entry(7, 4, idC, released(idA)))
	none[Create](t, append(r.members(b), r.pass(30*sec)...))
	require.Equal(t, share, r.m.Status().Share)
	r.jump(sec / 2) // it led until it says that it does not
	b.Leads = false
	none[Create](t, append(r.members(b), r.pass(prime(r.cfg.Fence)-10*ms)...))
	one[Create](t, r.pass(sec))
}
