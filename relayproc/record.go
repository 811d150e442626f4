package relayproc

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/convertfw/floatrelay/internal/atomicfile"
)

// recordName is the file in STATE_DIR that names the processes of the living
// tree, for the case that guard and daemon are both gone and one of them is not.
const recordName = "relay.json"

// process names one process for ever: a pid alone is reused.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // the system's start time of the process
	Exe   string `json:"exe"`
}

type treeRecord struct {
	Boot  string    `json:"boot"` // id of this boot; pids of another one mean nothing
	Relay string    `json:"relay"`
	Guard process   `json:"guard"`
	Procs []process `json:"procs"`
}

// Orphan is a process of an earlier run that was found alive and killed.
type Orphan struct {
	PID     int
	Program string
}

// writeRecord is best effort: without it only an orphan's name is lost, the
// lock still tells that it lives.
func writeRecord(dir, relay string, pids []int) {
	rec := treeRecord{Boot: bootID(), Relay: relay}
	rec.Guard, _ = lookup(os.Getpid())
	for _, pid := range pids {
		if p, ok := lookup(pid); ok {
			rec.Procs = append(rec.Procs, p)
		}
	}
	body, err := json.Marshal(rec)
	if err != nil {
		return
	}
	_ = atomicfile.Write(filepath.Join(dir, recordName), body)
}

func removeRecord(dir string) { os.Remove(filepath.Join(dir, recordName)) }

// readRecord returns what was recorded in this boot.
func readRecord(dir string) (rec treeRecord) {
	body, err := os.ReadFile(filepath.Join(dir, recordName))
	if err != nil || json.Unmarshal(body, &rec) != nil || rec.Boot != bootID() {
		return treeRecord{}
	}
	return rec
}

// living returns the recorded processes of the tree that are still the same and
// alive.
func living(dir string) []process { return unchanged(readRecord(dir).Procs...) }

func unchanged(procs ...process) (out []process) {
	for _, p := range procs {
		if now, ok := lookup(p.PID); ok && now == p {
			out = append(out, p)
		}
	}
	return out
}

func recordedGone(dir string) error {
	if alive := living(dir); len(alive) > 0 {
		return fmt.Errorf("%w: pid %d (%s) still lives", ErrLocked, alive[0].PID, alive[0].Exe)
	}
	return nil
}

// KillOrphans kills what an earlier run of this node recorded in stateDir and
// left alive without a guard, and waits up to 3 s for its end. A pid that
// meanwhile belongs to another process (other start time or program) is left
// alone, and so is a tree whose guard still lives: that is ErrLocked. It
// returns what it killed.
func KillOrphans(stateDir string) ([]Orphan, error) {
	lock, err := takeLock(filepath.Join(stateDir, "guard.lock"))
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	return killRecorded(stateDir)
}

// KillAbandoned kills the tree that an earlier run of this node recorded in
// stateDir, and its guard, which still holds the lock. It is for a guard that
// stands still: one that runs has killed its tree within KILL_MARGIN of its
// daemon's end. The caller must be the only daemon of stateDir. It returns what
// it killed and does not wait for the lock.
func KillAbandoned(stateDir string) ([]Orphan, error) {
	rec := readRecord(stateDir)
	var out []Orphan
	for _, p := range unchanged(append(rec.Procs, rec.Guard)...) {
		if err := killProcess(p); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return out, fmt.Errorf("kill pid %d (%s), left by an earlier run: %w", p.PID, p.Exe, err)
		}
		out = append(out, Orphan{p.PID, p.Exe})
	}
	return out, nil
}

func killRecorded(dir string) ([]Orphan, error) {
	killed := map[int]bool{}
	var out []Orphan
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		alive := living(dir)
		if len(alive) == 0 {
			removeRecord(dir)
			return out, nil
		}
		for _, p := range alive {
			if err := killProcess(p); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return out, fmt.Errorf("kill orphan pid %d (%s): %w", p.PID, p.Exe, err)
			}
			if !killed[p.PID] {
				killed[p.PID] = true
				out = append(out, Orphan{p.PID, p.Exe})
			}
		}
		if time.Since(begin) > 3*time.Second {
			return out, recordedGone(dir)
		}
	}
}

// clearRecorded is for a guard that has the lock: whoever recorded the tree is
// gone, so what still lives is an orphan. It does not wait.
func clearRecorded(dir string) error {
	for _, p := range living(dir) {
		_ = killProcess(p)
	}
	return recordedGone(dir)
}
