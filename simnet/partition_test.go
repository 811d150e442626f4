package simnet

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden stories")

const sec = time.Second

// play runs a script to its end and compares its story with the golden one.
func play(t *testing.T, s *Script, until time.Duration) string {
	t.Helper()
	var story bytes.Buffer
	s.Trace(Story, &story)
	require.NoError(t, s.Run(until))
	golden(t, story.String())
	return story.String()
}

// golden compares a story with the one in testdata, or rewrites that.
func golden(t *testing.T, story string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(strings.TrimPrefix(t.Name(), "Test"))+".txt")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(story), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), story, "rewrite it with -update if the change is meant")
}

// times counts a phrase in a story.
func times(story, phrase string) int { return strings.Count(story, phrase) }

// A share that only the leader lost does not end its relay at once: the roster
// vouches. TTL does end it, and somebody who has the share goes on.
func TestPartition_LeaderLosesShareOnly(t *testing.T) {
	s := NewScript(3).At(20 * sec).CutShare("A").At(50 * sec).MendShare("A")
	story := play(t, s, 60*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.NotEqual(t, "A", s.Leader())
}

// Gossip alone is no reason for a takeover: the leader goes on by the share.
func TestPartition_GossipOnly(t *testing.T) {
	s := NewScript(3).At(20*sec).Split("A", "BC").At(50*sec).Join("A", "BC")
	story := play(t, s, 60*sec)
	require.Equal(t, 1, times(story, "runs, epoch"))
	require.Equal(t, "A", s.Leader())
}

// A leader that hears everybody and is heard by nobody is in the same position.
func TestPartition_OneWay(t *testing.T) {
	s := NewScript(3).At(20 * sec).Mute("A")
	story := play(t, s, 60*sec)
	require.Equal(t, 1, times(story, "runs, epoch"))
	require.Equal(t, "A", s.Leader())
}

// Two halves, the share on the side of the half without the leader: that half
// takes over, after the leader has been fenced.
func TestPartition_SplitTwoTwo(t *testing.T) {
	s := NewScript(4).At(20*sec).Split("AB", "CD").CutShare("AB").At(60*sec).Join("AB", "CD").MendShare("AB")
	story := play(t, s, 80*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Contains(t, []string{"C", "D"}, s.Leader())
}

// A share that stalls for less than TTL changes nothing on a healthy LAN.
func TestPartition_ShareStallsHealthyLAN(t *testing.T) {
	s := NewScript(3).At(20 * sec).Stall(5 * sec)
	story := play(t, s, 60*sec)
	require.Equal(t, 1, times(story, "runs, epoch"))
	require.Equal(t, "A", s.Leader())
}

// A dead LAN with a healthy share changes nothing either.
func TestPartition_WholeLANDown(t *testing.T) {
	s := NewScript(3).At(20 * sec).LANDown().At(50 * sec).LANUp()
	story := play(t, s, 60*sec)
	require.Equal(t, 1, times(story, "runs, epoch"))
	require.Equal(t, "A", s.Leader())
}

// A leader that sleeps is replaced, and on waking its guard kills first.
func TestPartition_LeaderSleeps(t *testing.T) {
	s := NewScript(3).At(20*sec).Sleep("A", 20*sec)
	story := play(t, s, 60*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, "B", s.Leader())
	require.LessOrEqual(t, s.Stats().MaxExcused, 201*time.Millisecond)
}

// LAN and share lost at the same instant fence the leader within FENCE.
func TestPartition_LeaderLosesBoth(t *testing.T) {
	s := NewScript(3).At(20*sec).Split("A", "BC").CutShare("A")
	story := play(t, s, 60*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, "B", s.Leader())
}

// A daemon that stands still cannot act; its guard does.
func TestFault_DaemonFrozen(t *testing.T) {
	s := NewScript(3).At(20*sec).Freeze("A", 20*sec)
	story := play(t, s, 60*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, "B", s.Leader())
}

// A killed daemon's last will saves everybody the wait.
func TestFault_DaemonKilled(t *testing.T) {
	s := NewScript(3).At(20 * sec).Kill("A").At(40 * sec).Start("A")
	story := play(t, s, 60*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, "B", s.Leader())
}

// A dead PC leaves no will: FENCE' decides.
func TestFault_HostDies(t *testing.T) {
	s := NewScript(3).At(20 * sec).PowerOff("A").At(40 * sec).Start("A")
	story := play(t, s, 60*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, "B", s.Leader())
}

// A handoff names its successor, who need not wait.
func TestFault_Handoff(t *testing.T) {
	s := NewScript(3).At(20 * sec).Handoff("A")
	story := play(t, s, 40*sec)
	require.Equal(t, 2, times(story, "runs, epoch"))
	require.Equal(t, "B", s.Leader())
}

// A wiped folder ends the tenure; a new chain is founded above the old revs.
func TestFault_FolderWiped(t *testing.T) {
	s := NewScript(3).At(20 * sec).Wipe()
	story := play(t, s, 70*sec)
	require.Equal(t, 1, times(story, "founds a chain"))
	require.NotEmpty(t, s.Leader())
}
