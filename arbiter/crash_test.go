package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

func TestCrashes_FailuresCountWhateverThePauses(t *testing.T) {
	tests := map[string]struct {
		at   []time.Duration // of failures; up for a moment only
		over bool            // the last one is one too many
	}{
		"two":                    {[]time.Duration{0, sec}, false},
		"three at once":          {[]time.Duration{0, 0, 0}, true},
		"three in just a minute": {[]time.Duration{0, 30 * sec, 60 * sec}, true},
		"a slow drip":            {[]time.Duration{0, 74 * sec, 148 * sec}, true},
		"a very slow drip":       {[]time.Duration{0, failureCounts, 2 * failureCounts}, true},
		"long forgotten":         {[]time.Duration{0, sec, failureCounts + 2*sec, failureCounts + 3*sec}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var c crashes
			over := false
			for _, at := range tt.at {
				over = c.failed(zero+at, sec, "exit 1")
			}
			require.Equal(t, tt.over, over)
		})
	}
}

func TestCrashes_RestartAtOnceThenLaterAndLater(t *testing.T) {
	var c crashes
	for i, want := range []time.Duration{0, sec, 2 * sec, 4 * sec, 8 * sec, 15 * sec, 15 * sec} {
		c.failed(zero, 0, "")
		require.Equal(t, zero+want, c.next, "failure %d", i+1)
	}
	c.failed(zero, longLife, "") // it ran for a minute: all is forgiven
	require.Equal(t, zero, c.next)
	require.Equal(t, 1, c.count)
}

func TestCrashes_TheRestDoublesUpToTenMinutes(t *testing.T) {
	var c crashes
	for _, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
		c.rest(zero)
		require.Equal(t, zero+want*time.Minute, c.until)
	}
}

// crash lets the relay end by itself.
func (r *rig) crash() []Action {
	return r.do(RelayDown{Gen: r.gen, Cause: DownExited, Note: "exit 1"})
}

func TestCrash_OnceIsRestartedAtOnce(t *testing.T) {
	for _, cause := range []DownCause{DownExited, DownUnready, DownFailed} {
		t.Run(cause.String(), func(t *testing.T) {
			r := settled(t)
			acts := r.do(RelayDown{Gen: r.gen, Cause: cause})
			one[StartRelay](t, acts)
			require.Equal(t, 1, r.m.Status().Restarts)
		})
	}
}

func TestCrash_ThreeTimesHandsOverAndRests(t *testing.T) {
	r := settled(t)
	r.crash()
	r.pass(100 * ms)
	r.crash()
	r.pass(1500 * ms)
	acts := r.crash()
	rec := r.releaseIn(append(acts, r.pass(200*ms)...))
	require.Equal(t, "relay-failed", rec.Reason)
	require.Contains(t, []lease.ID{idB, idC}, rec.Successor)
	s := r.m.Status()
	require.Equal(t, Ineligible, s.Role)
	require.False(t, s.Eligible)
	require.Equal(t, []reason.Reason{{Code: reason.RelayResting, Detail: "exit 1"}}, s.Reasons)
	t.Run("does not lead again while it rests and others can", func(t *testing.T) {
		none[Create](t, r.pass(58*sec))
		require.NotEmpty(t, of[Create](r.pass(5*sec)), "rested: nobody else took it")
	})
}

func TestCrash_RestsNotIfNobodyElseIsEligible(t *testing.T) {
	r := leader(t)
	for range 12 {
		none[Create](t, onlyReleases(r, r.crash()))
		r.pass(31 * sec)
		require.Equal(t, Leader, r.m.Status().Role)
		require.Equal(t, RelayRunning, r.m.Status().Relay, "it keeps trying")
	}
}

func onlyReleases(r *rig, acts []Action) (out []Action) {
	for _, c := range of[Create](acts) {
		if r.opened(c.Body).State == lease.Released {
			out = append(out, c)
		}
	}
	return out
}

func TestCrash_TheOthersGoneWhileItRests(t *testing.T) {
	r := settled(t)
	for range 3 {
		r.crash()
		r.pass(1500 * ms)
	}
	require.Equal(t, Ineligible, r.m.Status().Role)
	none[StartRelay](t, r.pass(10*sec))
	acts := r.members()
	acts = append(acts, r.pass(3*sec)...)
	require.NotEmpty(t, of[StartRelay](acts), "as long as one PC is alive, the site has a relay")
	require.False(t, r.m.Status().Eligible, "nobody hands the lease to a PC that should rest")
}

func TestCrash_ARequestedStopIsNone(t *testing.T) {
	r := settled(t)
	r.do(Handoff{To: idB})
	r.pass(sec)
	require.Zero(t, r.m.Status().Restarts)
	require.Zero(t, r.m.crashes.count)
}

// TestCrash_TheEndOfAnEarlierTenureIsNone: the lease was lost and taken again
// before the relay of before, told to end, was dead.
func TestCrash_TheEndOfAnEarlierTenureIsNone(t *testing.T) {
	r := settled(t)
	r.m.setPhase(RelayStopping)
	r.do(RelayDown{Gen: r.gen, Cause: DownExited, Note: "exit 1"})
	require.Zero(t, r.m.crashes.count)
	require.Zero(t, r.m.Status().Restarts)
}

func TestCrash_ALostGuardIsNoCrashOfTheRelay(t *testing.T) {
	r := settled(t)
	for range 6 {
		r.do(RelayDown{Gen: r.gen, Cause: DownGuard})
		r.pass(sec)
		require.Equal(t, RelayRunning, r.m.Status().Relay)
	}
	require.Equal(t, Leader, r.m.Status().Role)
}

func TestCrash_TwoBrokenPCsDoNotPlayPingPong(t *testing.T) {
	w := newPair(t)
	w.lifetime = map[string]time.Duration{"A": 200 * ms, "B": 200 * ms}
	w.run(time.Hour)
	// Rests of 1, 2, 4, 8, 10, 10, … minutes each: a handful of changes an hour.
	require.LessOrEqual(t, w.tenures, 30, "leaders: %v", w.leaders)
	require.GreaterOrEqual(t, w.starts, 60, "somebody keeps trying")
	require.LessOrEqual(t, w.starts, 600)
}

func TestCrash_TheHealthyPCKeepsTheRelay(t *testing.T) {
	w := newPair(t)
	w.lifetime = map[string]time.Duration{"A": 200 * ms}
	w.run(20 * time.Minute)
	require.Equal(t, "B", w.leaders[len(w.leaders)-1])
	require.LessOrEqual(t, len(w.leaders), 2)
}

func TestCrash_ARelayThatRunsForAWhileIsAlwaysRestarted(t *testing.T) {
	w := newPair(t)
	w.lifetime = map[string]time.Duration{"A": 90 * sec, "B": 90 * sec}
	w.run(15 * time.Minute)
	require.Equal(t, 1, w.tenures)
	require.GreaterOrEqual(t, w.starts, 9)
}

// TestR3_ARelayThatLivesTooShort: on A it never runs for a minute, so that a
// healthy PC gets it after three failures, however far apart they are.
func TestR3_ARelayThatLivesTooShort(t *testing.T) {
	for _, life := range []time.Duration{5 * sec, 15 * sec, 30 * sec, 47 * sec, 59 * sec} {
		t.Run(life.String(), func(t *testing.T) {
			w := newPair(t)
			w.lifetime = map[string]time.Duration{"A": life}
			w.run(3*life + 30*sec)
			require.Equal(t, []string{"A", "B"}, w.leaders)
			w.run(30 * time.Minute)
			require.Len(t, w.leaders, 2, "and keeps it")
		})
	}
}

// TestR3_ALongLifeClearsTheFailuresBefore, also one that ended on request.
func TestR3_ALongLifeClearsTheFailuresBefore(t *testing.T) {
	r := settled(t)
	r.crash()
	r.pass(100 * ms)
	r.crash()
	r.pass(2 * sec)
	require.Equal(t, 2, r.m.crashes.count)
	r.pass(longLife)
	r.do(Handoff{To: idB})
	r.pass(sec)
	require.Zero(t, r.m.crashes.count)
}

// TestCrash_ARelayThatNeverBecomesReady: with RELAY_START_TIMEOUT as long as the
// window it never fails three times within it. The other PC gets the relay all
// the same, after a minute without one or at the first failure after that.
func TestCrash_ARelayThatNeverBecomesReady(t *testing.T) {
	for _, timeout := range []time.Duration{5 * sec, 25 * sec, 45 * sec, 60 * sec, 5 * time.Minute} {
		t.Run(timeout.String(), func(t *testing.T) {
			w := newPair(t)
			w.neverReady(0, timeout)
			w.run(timeout) // as long as the first relay, which was ready at once, lives
			w.run(max(vainLimit, timeout) + timeout + 10*sec)
			require.Equal(t, []string{"A", "B"}, w.leaders)
			require.Equal(t, RelayRunning, w.rigs[1].m.Status().Relay)
			w.run(20 * time.Minute)
			require.Len(t, w.leaders, 2, "and keeps it")
		})
	}
}

func TestCrash_ARelayReadyOnNoPC(t *testing.T) {
	w := newPair(t)
	w.neverReady(0, 60*sec)
	w.neverReady(1, 60*sec)
	w.run(time.Hour)
	require.LessOrEqual(t, w.tenures, 30, "leaders: %v", w.leaders)
	require.GreaterOrEqual(t, w.starts, 40, "somebody keeps trying")
}

func TestCrashes_AMinuteInVain(t *testing.T) {
	var c crashes
	c.tries(zero, true)
	require.False(t, c.failed(zero+59*sec, 0, ""))
	c.tries(zero+59*sec, false)
	require.True(t, c.failed(zero+60*sec, 0, ""))
	require.Equal(t, reason.Reason{Code: reason.RelayUnready, ForMS: 60_000}, c.what(zero+60*sec))
	c.rest(zero + 60*sec) // what follows one too many
	c.tries(zero+200*sec, true)
	require.False(t, c.failed(zero+250*sec, 0, ""), "another tenure counts anew")
}

// TestCrash_TheSuccessorIsOneWhoseRelayHasNotFailed: B had the lease before and
// gave it to us for want of a relay; C, worse by order, gets it now.
func TestCrash_TheSuccessorIsOneWhoseRelayHasNotFailed(t *testing.T) {
	r := settled(t)
	require.Equal(t, idB, r.m.successorOf(t))
	r.m.peers.noteFailure(r.now, lease.Record{State: lease.Released, Reason: relayFailed, Owner: idB})
	require.Equal(t, idC, r.m.successorOf(t))
	r.m.peers.noteFailure(r.now+sec, lease.Record{State: lease.Released, Reason: relayFailed, Owner: idC})
	require.Equal(t, idB, r.m.successorOf(t), "all have failed: the one that has rested longest")
	r.m.peers.noteFailure(r.now+sec, lease.Record{State: lease.Released, Reason: "handoff", Owner: idB})
	require.Equal(t, idB, r.m.successorOf(t), "a mere handoff is no failure")
	r.m.now += failureCounts + 2*sec
	require.Zero(t, r.m.failedLately(idC), "long ago")
}

// successorOf asks a leader whom it would hand over to now.
func (m *Machine) successorOf(t *testing.T) lease.ID {
	was := m.tenure.ending
	defer func() { m.tenure.ending = was }()
	m.tenure.ending = &ending{}
	return m.successor()
}

// Status counts failures in a row, tells when the next start is due, and forgets
// them after a minute of service.
func TestStatus_FailuresInARow(t *testing.T) {
	r := leader(t)
	require.Zero(t, r.m.Status().Failures)
	for i, pause := range []time.Duration{0, 1, 2, 4, 8, 15, 15} {
		r.crash()
		f := r.m.Status().Failures
		require.Equal(t, i+1, f.Row)
		require.Equal(t, "exit 1", f.Last)
		require.Equal(t, r.now, f.At)
		if pause == 0 {
			require.Zero(t, f.Next, "the first start is at once")
			continue
		}
		require.Equal(t, r.now+pause*sec, f.Next)
		r.pass(pause * sec)
		require.Zero(t, r.m.Status().Failures.Next, "that start is due now")
	}
	r.pass(longLife - sec)
	require.Equal(t, 7, r.m.Status().Failures.Row)
	r.pass(2 * sec)
	require.Zero(t, r.m.Status().Failures, "a minute of service")
}
