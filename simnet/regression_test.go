package simnet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every hole that was found once is gone to again, the same way each time. That
// the way leads there is shown twice: by the lines that the story must contain,
// and by the mutants that fall into it (TestMutants).
func TestRegression(t *testing.T) {
	for _, x := range tales {
		t.Run(x.name, func(t *testing.T) {
			story, err := x.tell(x.script())
			require.NoError(t, err)
			require.Empty(t, x.missed(story), "the story does not reach what it is about")
			golden(t, story)
		})
	}
}

// The worlds in which the search found those holes. Seeds drift: a change of the
// machine makes another story of the same seed, so these only add to the above.
func TestRegression_Seeds(t *testing.T) {
	for _, tc := range []struct {
		name string
		mode Mode
		seed uint64
	}{
		{"WillOfAGuardGivenUp", General, 8},
		{"EmptiedFolderFoundedAgain", General, 34},
		{"EmptiedFolderFoundedAgainLater", General, 1830},
		{"RestartBelowTheWillsTip", General, 367},
		{"EpochBelowAnUnreadableHead", General, 326},
		{"EpochAfterALongSleep", Hibernate, 1317},
		{"ChainThatOnlyGossipHadSeen", General, 20720},
		{"PreemptedTwice", Preempt, 176},
		// The leader stepped down but lived, its last record without a body: a member
		// off the roster went on asking the share every 10 s only.
		{"PolledSlowlyAfterALeaderThatGaveUp", Clones, 5023},
		// A stop beside an emptied folder waited for TTL with nothing to release.
		{"StoppedBesideAWipedFolder", General, 6547},
		// Not the machine but its judge: an earlier deadline was on its way to a
		// guard whose PC fell asleep; a record counted as won although its holder
		// had been told that the body failed; a daemon that fell asleep as it ended
		// never did.
		{"SleptOnAnEarlierDeadline", General, 5865},
		{"BodyAfterARefusal", Damage, 15564},
		{"AsleepWhenItEnded", General, 10308},
		{"PipeOfAFrozenGuardBroke", Guards, 1105},
		// A relay that had crashed often was started again after half a minute only.
		{"RestartedLate", Busy, 14305},
		{"FrozenGuardAtItsDeadline", Guards, 10},
		{"FrozenGuardKilledLate", Guards, 31},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, New(Expand(tc.seed, tc.mode)).Run())
		})
	}
}
