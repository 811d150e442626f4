package simnet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// All daemons restarted one after the other: the lease is handed on, never
// dropped, and each PC waits for nothing.
func TestFault_RollingRestart(t *testing.T) {
	s := NewScript(3).At(20 * sec).RollOver()
	story := play(t, s, 60*sec)
	require.Equal(t, 3, times(story, " ends\n"), "every daemon was stopped once")
	require.Zero(t, times(story, "(fence"), "nobody had to wait for FENCE'")
	require.NotEmpty(t, s.Leader())
}

// A guard that dies takes its relay with it; the daemon starts another once a
// newer record is acknowledged.
func TestFault_GuardKilled(t *testing.T) {
	s := NewScript(3).At(20 * sec).KillGuard("A")
	story := play(t, s, 40*sec)
	require.Equal(t, 2, times(story, "RELAY of A1 runs, epoch 8"))
	require.Equal(t, "A", s.Leader())
}

// A relay that ends by itself is started again, by the same leader.
func TestFault_RelayCrashes(t *testing.T) {
	s := NewScript(3).At(20 * sec).CrashRelay("A")
	story := play(t, s, 40*sec)
	require.Equal(t, 2, times(story, "RELAY of A1 runs, epoch 8"))
	require.Equal(t, "A", s.Leader())
}

// A relay that lives 5 to 300 s on one PC, again and again: after three lives of
// less than a minute another PC runs it, however long the whole took. One that runs
// for longer stays where it is.
func TestFault_RelayLivesTooShort(t *testing.T) {
	for life, leader := range map[time.Duration]string{5 * sec: "B", 30 * sec: "B", 45 * sec: "B", 55 * sec: "B", 65 * sec: "A", 300 * sec: "A"} {
		t.Run(life.String(), func(t *testing.T) {
			s, at := NewScript(3), 20*sec
			for range 3 {
				s = s.At(at).CrashRelay("A")
				at += life + 3*sec // it is started again after 2 s at most
			}
			require.NoError(t, s.Run(at))
			require.Equal(t, leader, s.Leader())
		})
	}
}

// A leader whose PC answers from its offline copy goes on by vouches, for TTL at
// most; the share shows the others what it can no longer change.
func TestFault_LeaderOffline(t *testing.T) {
	s := NewScript(3).At(20*sec).GoOffline("A", 30*sec)
	story := play(t, s, 70*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, "B", s.Leader())
}

// The newest record is damaged under a dead leader. Who was beaten with it knows
// what it said and waits FENCE'.
func TestFault_HeadDamaged(t *testing.T) {
	s := NewScript(3).At(20 * sec).DamageHead().At(20*sec + 10*ms).PowerOff("A")
	story := play(t, s, 60*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, 1, times(story, "held by B1 (fence)"))
}

// Who has not been beaten with a damaged record can only wait TTL_MAX'.
func TestFault_HeadDamagedBeforeAStart(t *testing.T) {
	s := NewScript(2).At(3 * sec).PowerOff("B").At(20 * sec).PowerOff("A").DamageHead().At(21 * sec).Start("B")
	story := play(t, s, 60*sec)
	require.Equal(t, 1, times(story, "held by B2 (unknown)"))
	require.Equal(t, "B", s.Leader())
}

// Two LEASE_DIRs by mistake: two relays until the members hear of each other,
// then one, on the share with the lower id.
func TestFault_TwoFolders(t *testing.T) {
	s := NewScript(4, func(o *Options) { o.Shares = 2 })
	play(t, s, 60*sec)
	require.NotEmpty(t, s.Leader())
}

// A cloned PC comes up beside the leader it was copied from: neither may lead,
// and somebody else does.
func TestFault_ClonedPC(t *testing.T) {
	s := NewScript(3, func(o *Options) { o.Clones, o.Prio = 2, []int{100, 100, 100} })
	story := play(t, s, 60*sec)
	require.Equal(t, "C", s.Leader())
	require.NotZero(t, times(story, "[clone station="))
}
