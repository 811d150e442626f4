package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

// handing is a settled leader that was asked to hand over to B just now; the
// outside world answers nothing by itself but reads and vouches.
func handing(t *testing.T) (*rig, []Action) {
	t.Helper()
	r := settled(t)
	r.creates, r.guards = false, false
	r.pass(100 * ms)
	return r, r.do(Handoff{To: idB, Reason: "asked"})
}

func TestRule7_AHandoffBeginsWithAnAcknowledgedRenewal(t *testing.T) {
	r, acts := handing(t)
	rev := r.m.Status().Rev
	c := one[Create](t, acts)
	require.Equal(t, rev+1, c.Rev)
	require.Equal(t, lease.Held, r.opened(c.Body).State)
	none[StopRelay](t, acts)
	none[StopRelay](t, r.pass(500*ms))
	stop := one[StopRelay](t, r.created(OK))
	require.Equal(t, r.cfg.Grace, stop.Grace, "a planned stop asks nicely")
}

func TestRule7_ThenStopsThenReleasesThenTellsTheSuccessor(t *testing.T) {
	r, _ := handing(t)
	acts := r.created(OK)
	none[Create](t, acts)
	none[Create](t, r.pass(400*ms)) // the tree is not dead yet
	acked := r.m.Status().Rev
	c := one[Create](t, r.do(RelayDown{Gen: r.gen, Cause: DownStopped}))
	require.Equal(t, acked+1, c.Rev)
	rec := r.opened(c.Body)
	require.Equal(t, lease.Released, rec.State)
	require.Equal(t, idB, rec.Successor)
	require.Equal(t, "asked", rec.Reason)
	acts = r.created(OK)
	told := map[lease.ID]bool{}
	reliably := false
	for _, h := range of[SendHead](acts) {
		require.Equal(t, c.Body, h.Body)
		told[h.To] = true
		reliably = reliably || h.To == idB && h.Reliable
	}
	require.True(t, reliably, "the successor is told over a connection")
	require.True(t, told[idC], "the roster is told as well")
	require.NotEqual(t, Leader, r.m.Status().Role)
}

func TestRule7_ASilentShareDoesNotHoldUpTheHandoffForever(t *testing.T) {
	r, _ := handing(t)
	acts := r.pass(10 * sec)
	require.NotEmpty(t, of[StopRelay](acts), "stops anyway, at the latest when the lease runs out")
}

// releasing is a leader whose tree is dead and whose release is outstanding.
func releasing(t *testing.T) (*rig, Create) {
	t.Helper()
	r, _ := handing(t)
	r.created(OK)
	c := one[Create](t, r.do(RelayDown{Gen: r.gen, Cause: DownStopped}))
	r.guards = true
	return r, c
}

func TestRule7_AnUncertainReleaseIsFound(t *testing.T) {
	r, c := releasing(t)
	r.apply()
	acts := r.do(Created{Op: c.Op, Outcome: Uncertain})
	none[StartRelay](t, acts)
	for range 5 { // tried again at the same rev, and then read
		if r.creating != nil {
			acts = append(acts, r.do(r.carryOut())...)
		}
		acts = append(acts, r.pass(200*ms)...)
	}
	for _, x := range of[Create](acts) {
		require.Equal(t, c.Rev, x.Rev)
	}
	require.NotEmpty(t, of[SendHead](acts), "the successor is told")
	require.Equal(t, c.Rev, r.m.Status().Rev)
	require.Equal(t, lease.Released, r.m.Status().Head.Record.State)
}

func TestRule7_AnUncertainReleaseThatSomebodyElseOvertook(t *testing.T) {
	r, c := releasing(t)
	r.do(Created{Op: c.Op, Outcome: Uncertain})
	e := r.entry(c.Rev, 9, idC)
	r.put(e)
	var acts []Action
	for range 5 {
		if r.creating != nil {
			acts = append(acts, r.do(r.carryOut())...)
		}
		acts = append(acts, r.pass(200*ms)...)
	}
	for _, x := range of[Create](acts) {
		require.Equal(t, c.Rev, x.Rev, "a release never goes above a record that is not its own")
	}
	none[StartRelay](t, acts)
	require.Equal(t, e.Body, r.m.Status().Head.Body)
	require.NotEqual(t, Leader, r.m.Status().Role)
}

func TestRule7_ARefusedReleaseIsNotRepeatedAboveIt(t *testing.T) {
	r, c := releasing(t)
	r.put(r.entry(c.Rev, 9, idC))
	acts := r.created(Exists)
	acts = append(acts, r.pass(3*sec)...)
	none[Create](t, acts)
	require.NotEqual(t, Leader, r.m.Status().Role)
}

func TestRule7_ATenureThatTriedToReleaseNeverRunsAgain(t *testing.T) {
	for _, out := range []Outcome{Exists, NotExist, NoBody, Unavailable, Denied, Uncertain} {
		t.Run(out.String(), func(t *testing.T) {
			r, c := releasing(t)
			epoch := r.opened(c.Body).Epoch
			acts := r.created(out)
			r.creates = true
			r.do(Handoff{To: idB})
			acts = append(acts, r.pass(2*time.Minute)...)
			for _, s := range of[StartRelay](acts) {
				require.Greater(t, s.Epoch, epoch)
			}
			for _, x := range of[Create](acts) {
				rec := r.opened(x.Body)
				require.True(t, rec.State == lease.Released || rec.Epoch > epoch, "held record %d in the old tenure", x.Rev)
			}
		})
	}
}

func TestRule7_AStopDoesNotWaitForAChainThatIsGone(t *testing.T) {
	r, _ := releasing(t)
	r.share, r.chain = "", nil
	r.do(Handoff{Reason: "stop", Final: true})
	r.created(NotExist)
	require.Equal(t, Leader, r.m.Status().Role, "one answer may be wrong: the listing has not said so yet")
	r.creates = true
	acts := r.pass(r.cfg.Poll + sec)
	require.NotEmpty(t, of[Finished](acts), "within POLL, not after TTL")
	require.Contains(t, reports(acts), string(reason.EndedFolderGone))
}

func TestRule7_AfterAReleaseWithoutBodyTheNextRevIsReleased(t *testing.T) {
	r, c := releasing(t)
	r.created(NoBody)
	_, next := r.nextCreate(sec)
	require.Equal(t, c.Rev+1, next.Rev)
	require.Equal(t, lease.Released, r.opened(next.Body).State)
	require.NotEmpty(t, of[SendHead](r.created(OK)))
}

func TestRule7_AReleaseBeganInTimeOrNotAtAll(t *testing.T) {
	r, c := releasing(t)
	epoch := r.opened(c.Body).Epoch
	deadline := r.m.Status().Deadline
	r.run(deadline + ms)
	r.do(Created{Op: c.Op, Outcome: Unavailable})
	for _, x := range of[Create](r.pass(sec)) {
		require.Greater(t, r.opened(x.Body).Epoch, epoch)
	}
}

func TestRule7_NobodyToHandOverToIsRefused(t *testing.T) {
	r := leader(t)
	acts := r.do(Handoff{Reason: "asked"})
	acts = append(acts, r.pass(5*sec)...)
	none[StopRelay](t, acts)
	require.Contains(t, reports(acts), string(reason.HandoffNobody))
	require.Equal(t, Leader, r.m.Status().Role)
}

func TestRule7_HandoffToSomebodyIneligibleIsRefused(t *testing.T) {
	r := settled(t)
	sick := alive(idC)
	sick.Eligible = false
	r.members(alive(idB), sick)
	for name, to := range map[string]lease.ID{
		"ineligible": idC, "unknown": idD, "another run": {Node: idB.Node, Run: "b2"},
	} {
		t.Run(name, func(t *testing.T) {
			acts := r.do(Handoff{To: to})
			acts = append(acts, r.pass(sec)...)
			none[StopRelay](t, acts)
			require.Contains(t, reports(acts), string(reason.HandoffUnfit))
		})
	}
}

func TestRule7_TheSuccessorIsTheBestThatVouches(t *testing.T) {
	r := settled(t)
	best := alive(idC)
	best.Priority = 200
	r.members(alive(idB), best)
	r.pass(4 * sec)
	acts := r.do(Handoff{})
	require.Equal(t, idC, r.releaseIn(append(acts, r.pass(400*ms)...)).Successor)
	t.Run("and not a silent one", func(t *testing.T) {
		r := settled(t)
		r.members(alive(idB), best)
		r.pass(4 * sec)
		r.vouching = []lease.ID{idB}
		r.pass(800 * ms)
		acts := r.do(Handoff{})
		require.Equal(t, idB, r.releaseIn(append(acts, r.pass(400*ms)...)).Successor)
	})
}

// releaseIn returns the one release among the creates.
func (r *rig) releaseIn(acts []Action) (found lease.Record) {
	r.t.Helper()
	n := 0
	for _, c := range of[Create](acts) {
		if rec := r.opened(c.Body); rec.State == lease.Released {
			found = rec
			n++
		}
	}
	require.Equal(r.t, 1, n, "want one release in: %s", describe(acts))
	return found
}

func TestRule7_FinalHandoffFinishes(t *testing.T) {
	t.Run("a leader", func(t *testing.T) {
		r := settled(t)
		acts := r.do(Handoff{Final: true, Reason: "stopping"})
		acts = append(acts, r.pass(sec)...)
		one[Finished](t, acts)
		require.Less(t, indexOf[SendHead](acts), indexOf[Finished](acts), "the successor is told before the end")
		none[Create](t, r.pass(time.Minute))
	})
	t.Run("a leader alone", func(t *testing.T) {
		r := leader(t)
		acts := r.do(Handoff{Final: true})
		acts = append(acts, r.pass(sec)...)
		one[Finished](t, acts)
		require.Equal(t, lease.Released, r.m.Status().Head.Record.State)
	})
	t.Run("a client", func(t *testing.T) {
		r := onRoster(t)
		one[Finished](t, r.do(Handoff{Final: true}))
	})
	t.Run("a candidate whose create is under way", func(t *testing.T) {
		r := taker(t)
		none[Finished](t, r.do(Handoff{Final: true}))
		acts := r.created(OK)
		none[StartRelay](t, acts)
		one[Finished](t, append(acts, r.pass(sec)...))
	})
	t.Run("without the share", func(t *testing.T) {
		r := settled(t)
		r.pass(100 * ms)
		r.creates = false
		acts := r.do(Handoff{Final: true})
		for range 150 {
			if r.creating != nil {
				acts = append(acts, r.created(Unavailable)...)
			}
			acts = append(acts, r.pass(100*ms)...)
		}
		one[Finished](t, acts)
		one[StopRelay](t, acts)
	})
}

func TestRule7_ALostGuardNeedsANewAcknowledgement(t *testing.T) {
	r := settled(t)
	r.creates = false
	rev := r.m.Status().Rev
	_, old := r.nextCreate(5 * sec) // under way when the guard dies
	acts := r.do(RelayDown{Gen: r.gen, Cause: DownGuard, Note: "killed"})
	none[StartRelay](t, acts)
	acts = r.created(OK)
	none[StartRelay](t, acts)
	require.Equal(t, rev+1, old.Rev)
	next := one[Create](t, append(acts, r.pass(300*ms)...))
	require.Equal(t, old.Rev+1, next.Rev)
	start := one[StartRelay](t, r.created(OK))
	require.Equal(t, r.opened(next.Body).Epoch, start.Epoch, "the tenure goes on")
}

func TestRule7_ALostGuardWhoseWillWonEndsTheTenure(t *testing.T) {
	r := settled(t)
	r.creates = false
	epoch := r.m.Status().Epoch
	c := one[Create](t, r.do(RelayDown{Gen: r.gen, Cause: DownGuard}))
	r.put(r.entry(c.Rev, epoch, idA, released(lease.ID{})))
	acts := r.created(Exists)
	none[StartRelay](t, acts)
	r.creates = true
	for _, s := range of[StartRelay](append(acts, r.pass(10*sec)...)) {
		require.Greater(t, s.Epoch, epoch)
	}
}

func TestRule7_TheGuardKnowsTheNewestAcknowledgedRecord(t *testing.T) {
	r := settled(t)
	for range 20 {
		from := len(r.all)
		r.pass(3 * sec)
		wills := of[SetWill](r.actions(from))
		require.NotEmpty(t, wills)
		require.Equal(t, r.m.Status().Rev, wills[len(wills)-1].Record.Rev)
	}
}

func TestRule7_AnIneligibleLeaderHandsOver(t *testing.T) {
	r := settled(t)
	acts := r.do(Eligibility{Reasons: reason.Of(reason.Drained)})
	acts = append(acts, r.pass(sec)...)
	require.NotEmpty(t, of[SendHead](acts))
	require.Equal(t, lease.Released, r.m.Status().Head.Record.State)
	t.Run("but not if nobody else is there", func(t *testing.T) {
		r := leader(t)
		acts := r.do(Eligibility{Reasons: reason.Of(reason.Drained)})
		none[StopRelay](t, append(acts, r.pass(time.Minute)...))
	})
}

func TestRule7_PreemptionAfterThirtyStableSeconds(t *testing.T) {
	r := settled(t)
	server := alive(idB)
	server.Priority, server.Preempt = 200, true
	r.members(server, alive(idC))
	none[StopRelay](t, r.run(zero+30*sec))
	acts := r.pass(4 * sec)
	require.NotEmpty(t, of[StopRelay](acts))
	require.Equal(t, idB, r.releaseIn(acts).Successor)
	t.Run("without RELAY_PREEMPT never", func(t *testing.T) {
		r := settled(t)
		server.Preempt = false
		r.members(server, alive(idC))
		none[StopRelay](t, r.pass(5*time.Minute))
	})
	t.Run("nor an equal one", func(t *testing.T) {
		r := settled(t)
		server.Preempt, server.Priority = true, 100
		r.members(server, alive(idC))
		none[StopRelay](t, r.pass(5*time.Minute))
	})
	t.Run("nor one that stutters", func(t *testing.T) {
		r := settled(t)
		server.Priority = 200
		r.members(server, alive(idC))
		for range 20 {
			r.vouching = []lease.ID{idB, idC}
			none[StopRelay](t, r.pass(20*sec))
			r.vouching = []lease.ID{idC}
			none[StopRelay](t, r.pass(sec))
		}
	})
}
