package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// observedAt returns when the machine first observed the head of the chain: the
// moment the set-up listed it.
func (r *rig) observedAt() time.Duration {
	for _, s := range r.all {
		if _, ok := s.a.(List); ok {
			return s.at
		}
	}
	return 0
}

// createsAt requires that the next create begins exactly at the given instant
// and that nothing begins one tick before.
func (r *rig) createsAt(at time.Duration) Create {
	r.t.Helper()
	require.Greater(r.t, at, r.now)
	none[Create](r.t, r.run(at-tick))
	got, c := r.nextCreate(2 * tick)
	require.Equal(r.t, at, got)
	return c
}

func TestRule4_ReleasedHeadAtOnce(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(6, 3, idD, released(idA)))
	acts := r.do(TreeClear{})
	require.EqualValues(t, 7, one[Create](t, acts).Rev)
	require.EqualValues(t, 4, one[StartRelay](t, acts).Epoch)
}

func TestRule4_ToldOfAReleaseAtOnce(t *testing.T) {
	r := onRoster(t)
	one[Create](t, r.do(HeadReceived{From: idB, Entry: r.entry(8, 4, idB, released(idA))}))
}

func TestRule4_OwnRecordOnlyAfterTheTreeIsDead(t *testing.T) {
	r := settled(t)
	r.guards = false
	r.vouching, r.creates = nil, false
	r.stopsAt(3 * sec)
	if r.creating != nil {
		r.created(Unavailable)
	}
	r.creates = true
	none[Create](t, r.pass(30*sec))
	one[Create](t, r.do(RelayDown{Gen: r.gen, Cause: DownStopped}))
}

func TestRule4_EarlierRunOfThisBootOnlyWithTheGuardLock(t *testing.T) {
	earlier := lease.ID{Node: idA.Node, Run: "a0"}
	t.Run("with it", func(t *testing.T) {
		r := newRig(t)
		r.put(r.entry(6, 3, earlier))
		none[Create](t, r.pass(5*sec))
		one[Create](t, r.do(TreeClear{}))
	})
	for name, e := range map[string]func(r *rig) lease.Entry{
		"another boot": func(r *rig) lease.Entry {
			return r.entry(6, 3, earlier, func(x *lease.Record) { x.Boot = "before" })
		},
		"another node with the same boot": func(r *rig) lease.Entry {
			return r.entry(6, 3, idB, func(x *lease.Record) { x.Boot = r.cfg.Boot })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(e(r))
			r.do(TreeClear{})
			none[Create](t, r.run(r.observedAt()+prime(10*sec)))
		})
	}
}

func TestRule4_RosterMemberAfterFence(t *testing.T) {
	t.Run("since it observed the record", func(t *testing.T) {
		r := newRig(t)
		r.put(r.entry(7, 4, idB, roster(idA, idC)))
		r.do(TreeClear{})
		r.createsAt(r.observedAt() + 1550*ms)
	})
	t.Run("since a beat showed it", func(t *testing.T) {
		r := onRoster(t)
		r.pass(500*ms - r.now%ms)
		seen := r.now
		r.do(HeadReceived{From: idC, Entry: r.entry(8, 4, idB, roster(idA, idC))})
		r.createsAt(seen + 1550*ms)
	})
	t.Run("since its last vouch", func(t *testing.T) {
		r := newRig(t)
		r.put(r.entry(7, 4, idB, roster(idA, idC)))
		r.do(TreeClear{})
		r.pass(700 * ms)
		r.hear(r.entry(7, 4, idB, roster(idA, idC)), 1)
		r.createsAt(r.now + 1550*ms)
	})
	t.Run("a vouch for an older record counts as well", func(t *testing.T) {
		r := newRig(t)
		r.put(r.entry(7, 4, idB, roster(idA, idC)))
		r.do(TreeClear{})
		r.pass(700 * ms)
		one[SendVouch](t, r.hear(r.entry(6, 4, idB, roster(idA, idC)), 1))
		r.createsAt(r.now + 1550*ms)
	})
	t.Run("the record's own FENCE", func(t *testing.T) {
		r := newRig(t)
		r.put(r.entry(7, 4, idB, roster(idA), figures(20*sec, 4*sec)))
		r.do(TreeClear{})
		r.createsAt(r.observedAt() + 4100*ms)
	})
	t.Run("another run of ours on the roster is not us", func(t *testing.T) {
		r := newRig(t)
		r.put(r.entry(7, 4, idB, roster(lease.ID{Node: idA.Node, Run: "a0"})))
		r.do(TreeClear{})
		none[Create](t, r.run(r.observedAt()+10*sec))
	})
}

// ticksUntilCreate runs until the first create and returns when it began.
func (r *rig) ticksUntilCreate(within time.Duration) time.Duration {
	r.t.Helper()
	at, _ := r.nextCreate(within)
	return at
}

func TestRule4_OutsiderAfterTTLAndItsRandomTurn(t *testing.T) {
	times := map[time.Duration]bool{}
	for seed := range uint64(12) {
		r := newRig(t, func(c *Config) { c.Seed = seed })
		r.put(r.entry(7, 4, idB, roster(idC)))
		r.do(TreeClear{})
		free := r.observedAt() + 10220*ms
		at := r.ticksUntilCreate(20 * sec)
		require.GreaterOrEqual(t, at, free+200*ms)
		require.Less(t, at, free+sec)
		times[at] = true
	}
	require.Greater(t, len(times), 6, "outsiders spread out")
}

func TestRule4_TheRecordsOwnTTL(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(7, 4, idB, figures(18*sec, 1500*ms)))
	r.do(TreeClear{})
	require.GreaterOrEqual(t, r.ticksUntilCreate(40*sec), r.observedAt()+prime(18*sec)+200*ms)
}

func TestRule4_UnknownRecordAfterTTLMax(t *testing.T) {
	bodies := map[string]func(r *rig) []byte{
		"empty":     func(*rig) []byte { return nil },
		"NULs":      func(*rig) []byte { return make([]byte, 180) },
		"half":      func(r *rig) []byte { return r.entry(7, 4, idB).Body[:60] },
		"wrong MAC": func(r *rig) []byte { return r.sealedWith("another token") },
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.TTL, c.Renew, c.Fence, c.Beat = 3*sec, sec, sec, 200*ms })
			r.put(r.entry(6, 3, idB))
			r.chain[7] = body(r)
			r.do(TreeClear{})
			free := r.observedAt() + prime(20*sec)
			at, c := r.nextCreate(40 * sec)
			require.GreaterOrEqual(t, at, free+200*ms)
			require.Less(t, at, free+sec)
			require.EqualValues(t, 8, c.Rev)
		})
	}
}

// sealedWith is record 7 of somebody whose token differs.
func (r *rig) sealedWith(token string) []byte {
	rec := r.entry(7, 4, idB).Record
	rec.LeaseUntil = ""
	body, err := testCodec(r.t, site, token).Seal(rec)
	require.NoError(r.t, err)
	return body
}

func TestRule4_AnUnknownRecordReadableLaterGetsItsOwnTime(t *testing.T) {
	r := newRig(t)
	r.share, r.chain[7] = share, nil
	r.do(TreeClear{})
	seen := r.observedAt()
	r.pass(sec)
	r.put(r.entry(7, 4, idB, roster(idA)))
	_, c := r.nextCreate(12 * sec)
	require.EqualValues(t, 8, c.Rev)
	require.Less(t, r.now, seen+10*sec, "observed since it was first listed, with its own figures")
}

func TestRule4_NeverOverANewerFormat(t *testing.T) {
	r := newRig(t)
	r.share, r.chain[7] = share, testCodec(t, "4711", "secret").Sign([]byte(`{"v":2,"whatever":"x"`))
	r.do(TreeClear{})
	none[Create](t, r.pass(10*time.Minute))
	s := r.m.Status()
	require.Equal(t, Ineligible, s.Role)
	require.NotEmpty(t, s.Reasons, "it says why")
	require.False(t, s.Eligible)
}

// What only claims to be of a newer format or of another site proves nothing: it is
// waited for like anything that cannot be verified, and named meanwhile.
func TestRule4_ClaimsThatNobodyCanVerifyAreWaitedFor(t *testing.T) {
	foreign := func(r *rig) []byte {
		rec := r.entry(7, 4, idB).Record
		rec.KMSN, rec.LeaseUntil = "0815", ""
		body, err := testCodec(r.t, "0815", "secret").Seal(rec)
		require.NoError(r.t, err)
		return body
	}
	newer := func(r *rig) []byte {
		return testCodec(r.t, "4711", "another secret").Sign([]byte(`{"v":2,"whatever":"x"`))
	}
	for name, body := range map[string]func(r *rig) []byte{"another KMSN": foreign, "a newer v": newer} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.share, r.chain[7] = share, body(r)
			r.do(TreeClear{})
			seen := r.observedAt()
			none[Create](t, r.run(seen+prime(20*sec)))
			require.NotEmpty(t, r.m.Status().Reasons, "it says what lies there")
			_, c := r.nextCreate(3 * sec)
			require.EqualValues(t, 8, c.Rev)
		})
	}
}

func TestRule4_MissingChainIsFoundedAfterTTLMax(t *testing.T) {
	r := newRig(t, func(c *Config) { c.FloorRev, c.FloorEpoch = 41, 12 })
	r.creates = false
	r.do(TreeClear{})
	free := r.observedAt() + prime(20*sec)
	none[Found](t, r.run(free+200*ms-tick))
	acts := r.run(free + sec)
	f := one[Found](t, acts)
	require.EqualValues(t, 42, f.Rev, "above any rev this node knows")
	require.Equal(t, lease.Released, r.opened(f.Genesis).State, "all members race from the same head")
	none[Create](t, acts)
}

func TestRule4_AMissingFolderIsNotAMissingChain(t *testing.T) {
	r := newRig(t)
	r.lists = false
	r.do(TreeClear{})
	for range 600 {
		if a, ok := r.reading.(List); ok {
			r.do(Listed{Op: a.Op, Outcome: Unavailable})
		}
		acts := r.pass(100 * ms)
		none[Found](t, acts)
		none[Create](t, acts)
	}
	require.Equal(t, Ineligible, r.m.Status().Role)
}

// beats lets d pass with the record's owner beating every BEAT.
func (r *rig) beats(e lease.Entry, d time.Duration) []Action {
	from := len(r.all)
	r.beatNum = max(r.beatNum, 100)
	for end := r.now + d; r.now < end; {
		r.beatNum++
		r.hear(e, r.beatNum)
		r.pass(min(r.cfg.Beat, end-r.now))
	}
	return r.actions(from)
}

func TestRule4_NeedsAFreshListingToBegin(t *testing.T) {
	r := onRoster(t)
	r.lists = false // the read lane hangs from now on
	r.beats(r.entry(7, 4, idB, roster(idA, idC)), 25*sec)
	r.hear(r.entry(8, 4, idB, roster(idA, idC)), 1000) // a beat is no listing
	none[Create](t, r.pass(60*sec))
	// The stuck call returns with what it saw a minute ago: too old.
	none[Create](t, r.do(r.look()))
	r.lists = true
	r.put(r.entry(8, 4, idB, roster(idA, idC)))
	acts := r.do(r.look())
	acts = append(acts, r.pass(sec)...)
	require.EqualValues(t, 9, one[Create](t, acts).Rev)
}

func TestRule4_NeedsAFreshListingToWin(t *testing.T) {
	for name, tt := range map[string]struct {
		age time.Duration
		won bool
	}{"29.999 s": {30*sec - tick, true}, "30 s": {30 * sec, false}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.TTL = 20 * sec })
			r.put(r.entry(7, 4, idB, roster(idA, idC)))
			r.creates = false
			r.do(TreeClear{})
			r.lists = false
			listed := r.observedAt()
			r.beats(r.entry(7, 4, idB, roster(idA, idC)), 14*sec) // the read lane hangs
			r.nextCreate(2 * sec)
			r.now = listed + tt.age
			require.Equal(t, tt.won, len(of[StartRelay](r.created(OK))) == 1)
		})
	}
}

func TestRule4_ALostCreateIsAnObservation(t *testing.T) {
	r := taker(t)
	r.jump(300 * ms)
	r.lists = false
	r.created(Exists)
	s := r.m.Status()
	require.EqualValues(t, 7, s.Rev)
	require.Equal(t, lease.Unread, s.Head.Kind)
	none[Create](t, r.pass(30*sec))
}

func TestRule4_AnUnreadableRevNobodyCanReadIsWaitedForTTLMax(t *testing.T) {
	r := taker(t)
	lost := r.now
	r.created(Exists) // yet the share keeps saying that 7 is not there
	r.creates = true
	require.GreaterOrEqual(t, r.ticksUntilCreate(40*sec), lost+prime(20*sec))
}

func TestRule4_IneligibleMembersNeverTakeOver(t *testing.T) {
	tests := map[string]func(t *testing.T) *rig{
		"RELAY_PRIORITY 0": func(t *testing.T) *rig {
			r := newRig(t, func(c *Config) { c.Priority = 0 })
			r.do(TreeClear{})
			return r
		},
		"drained": func(t *testing.T) *rig {
			r := newRig(t)
			r.do(Eligibility{Reasons: reason.Of(reason.Drained)})
			r.do(TreeClear{})
			return r
		},
		"an old tree may live": func(t *testing.T) *rig { return newRig(t) },
		"stopping": func(t *testing.T) *rig {
			r := newRig(t)
			r.do(Handoff{Final: true})
			r.do(TreeClear{})
			return r
		},
	}
	for name, mk := range tests {
		t.Run(name, func(t *testing.T) {
			r := mk(t)
			r.put(r.entry(7, 4, idB, released(idA)))
			acts := r.pass(5 * time.Minute)
			none[Create](t, acts)
			none[Found](t, acts)
			require.Equal(t, Ineligible, r.m.Status().Role)
		})
	}
}

func TestRule4_OrderAmongCandidates(t *testing.T) {
	const gap = 150 * ms
	other := lease.ID{Node: "node-0", Run: "r"}
	tests := map[string]struct {
		head   func(r *rig) lease.Entry
		alive  []lease.ID
		lo, hi time.Duration // after it is allowed
	}{
		"the successor": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(idA), roster(idB, idA)) }, []lease.ID{idB}, 0, 0},
		"first on the roster": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(lease.ID{}), roster(idA, idB)) },
			[]lease.ID{idB}, 0, 0},
		"second, the first alive": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(lease.ID{}), roster(idB, idA)) },
			[]lease.ID{idB}, gap, gap},
		"second, the first dead": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(lease.ID{}), roster(idB, idA)) },
			nil, 0, 0},
		"third": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(lease.ID{}), roster(idB, idC, idA)) },
			[]lease.ID{idB, idC}, 2 * gap, 2 * gap},
		"behind the successor": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(idC), roster(idA, idC)) },
			[]lease.ID{idC}, gap, gap},
		"behind the successor and the first": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(idC), roster(idB, idA, idC)) },
			[]lease.ID{idB, idC}, 2 * gap, 2 * gap},
		"the successor dead": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(idC), roster(idA, idC)) },
			nil, 0, 0},
		"an outsider": {func(r *rig) lease.Entry { return r.entry(7, 4, idD, released(lease.ID{}), roster(idB)) },
			[]lease.ID{idB}, gap + 200*ms, gap + sec},
		"an outsider when the roster is gone": {func(r *rig) lease.Entry { return r.entry(7, 4, other, released(lease.ID{}), roster(idB)) },
			nil, 0, 300 * ms},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(tt.head(r))
			r.aliveAll(tt.alive...)
			from := r.now
			acts := r.do(TreeClear{})
			at := from
			if len(of[Create](acts)) == 0 {
				at = r.ticksUntilCreate(3 * sec)
			}
			require.GreaterOrEqual(t, at-from, tt.lo)
			require.LessOrEqual(t, at-from, tt.hi)
		})
	}
}

func TestRule4_TheOrderHoldsAfterASilentHolderToo(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(7, 4, idB, roster(idC, idA)))
	r.aliveAll(idC)
	r.do(TreeClear{})
	r.createsAt(r.observedAt() + 1550*ms + 150*ms)
}

func TestRule4_WakesAtTheInstantItMayTakeOver(t *testing.T) {
	r := newRig(t)
	r.put(r.entry(7, 4, idB, roster(idA)))
	r.do(TreeClear{})
	for r.now < r.observedAt()+1550*ms {
		require.LessOrEqual(t, r.m.Wake(), r.observedAt()+1550*ms)
		r.run(r.m.Wake())
	}
	require.EqualValues(t, 8, r.m.Status().Rev)
}

func TestRule4_ADeniedCreateIsNoContention(t *testing.T) {
	denied := func(r *rig, d time.Duration) (creates int) {
		for end := r.now + d; r.now < end; {
			r.pass(100 * ms)
			switch a := r.creating.(type) {
			case Create:
				creates++
				r.do(Created{Op: a.Op, Outcome: Denied})
			case Found:
				creates++
				r.do(Founded{Op: a.Op, Outcome: Denied})
			}
		}
		return creates
	}
	t.Run("taking over", func(t *testing.T) {
		r := taker(t)
		r.created(Denied)
		require.Equal(t, Ineligible, r.m.Status().Role)
		require.Equal(t, reason.Of(reason.ShareDenied), r.m.Status().Reasons)
		require.LessOrEqual(t, denied(r, time.Minute), 6)
		require.LessOrEqual(t, len(r.m.attempts.open), 1, "nothing piles up")
		r.creates = true
		r.pass(11 * sec)
		require.Equal(t, Leader, r.m.Status().Role, "it tries again")
	})
	t.Run("founding", func(t *testing.T) {
		r := newRig(t)
		r.creates = false
		r.do(TreeClear{})
		r.pass(23 * sec)
		require.LessOrEqual(t, denied(r, time.Minute), 7)
		require.Equal(t, reason.Of(reason.ShareDenied), r.m.Status().Reasons)
	})
	t.Run("a running leader lives on its vouches", func(t *testing.T) {
		r := settled(t)
		r.creates = false
		_, c := r.nextCreate(4 * sec)
		none[StopRelay](t, r.do(Created{Op: c.Op, Outcome: Denied}))
		none[StopRelay](t, r.pass(3*sec))
	})
}
