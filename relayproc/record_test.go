package relayproc

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sleeper is a process that stands for an orphan.
func sleeper(t *testing.T) process {
	cmd := exec.Command(self(t), "standin", "-role", "sleeper")
	cmd.Env = append(os.Environ(), "RELAY_PORT=9530")
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	var p process
	eventually(t, "the sleeper runs its program", func() bool {
		now, ok := lookup(cmd.Process.Pid)
		p = now
		return ok && sameProgram(now.Exe, self(t))
	})
	return p
}

func save(t *testing.T, dir string, rec treeRecord) {
	body, err := json.Marshal(rec)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, recordName), body, 0o600))
}

func TestKillOrphans_KillsWhatWeRecorded(t *testing.T) {
	dir, p := t.TempDir(), sleeper(t)
	writeRecord(dir, "relay", []int{p.PID})
	require.ErrorIs(t, ProbeLock(filepath.Join(dir, "guard.lock")), ErrLocked)
	killed, err := KillOrphans(dir)
	require.NoError(t, err)
	require.Equal(t, []Orphan{{PID: p.PID, Program: p.Exe}}, killed)
	_, alive := lookup(p.PID)
	require.False(t, alive)
	require.NoFileExists(t, filepath.Join(dir, recordName))
}

// The first release did not name the guard: what it left is ended all the same, and
// nothing else.
func TestKillAbandoned_OfTheFirstRelease(t *testing.T) {
	dir, p := t.TempDir(), sleeper(t)
	text, err := os.ReadFile("testdata/first-relay.json")
	require.NoError(t, err)
	quoted := func(v any) string {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		return string(b)
	}
	filled := strings.NewReplacer("BOOT", quoted(bootID()), "PID", quoted(p.PID), "START", quoted(p.Start), "EXE", quoted(p.Exe)).Replace(string(text))
	require.NoError(t, os.WriteFile(filepath.Join(dir, recordName), []byte(filled), 0o600))
	require.Equal(t, []process{p}, living(dir))
	killed, err := KillAbandoned(dir)
	require.NoError(t, err)
	require.Equal(t, []Orphan{{PID: p.PID, Program: p.Exe}}, killed)
}

func TestKillOrphans_NeverAReusedPid(t *testing.T) {
	p := sleeper(t)
	for name, rec := range map[string]treeRecord{
		"other start time": {Boot: bootID(), Procs: []process{{p.PID, p.Start + 1, p.Exe}}},
		"other program":    {Boot: bootID(), Procs: []process{{p.PID, p.Start, p.Exe + ".old"}}},
		"other boot":       {Boot: "another", Procs: []process{p}},
	} {
		if name == "other boot" && bootID() == "" {
			continue // creation times never repeat there
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			save(t, dir, rec)
			killed, err := KillOrphans(dir)
			require.NoError(t, err)
			require.Empty(t, killed)
			_, alive := lookup(p.PID)
			require.True(t, alive)
		})
	}
}

func TestKillOrphans_LeavesAGuardedTreeAlone(t *testing.T) {
	w := newWorld(t).start(time.Hour)
	await[Ready](w, nil)
	_, err := KillOrphans(w.dir)
	require.ErrorIs(t, err, ErrLocked)
	require.NotEmpty(t, relays(w.dir))
}

func TestKillOrphans_DamagedRecord(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, recordName), make([]byte, 64), 0o600))
	killed, err := KillOrphans(dir)
	require.NoError(t, err)
	require.Empty(t, killed)
}

// TestGuard_ClearsAnOrphanFirst: the lock is free because its guard is dead,
// yet a process of its tree lives.
func TestGuard_ClearsAnOrphanFirst(t *testing.T) {
	w := newWorld(t)
	p := sleeper(t)
	writeRecord(w.dir, "relay", []int{p.PID})
	w.start(time.Hour)
	await[Ready](w, nil)
	_, alive := lookup(p.PID)
	require.False(t, alive)
}
