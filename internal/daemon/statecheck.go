package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// StateFault is something wrong with what is kept in STATE_DIR.
type StateFault struct {
	Text, Do string
	// Grave: the daemon does not start with it.
	Grave bool
}

// CheckState looks at the files in STATE_DIR without changing them. What is not
// there yet is no fault. Whose they are is asked only if no daemon runs: one that
// runs has seen to it, perhaps under another account than this.
func CheckState(dir string, running bool) (faults []StateFault) {
	if f, bad := checkNode(filepath.Join(dir, "node")); bad {
		faults = append(faults, f)
	}
	if f, bad := checkSaved(filepath.Join(dir, "state.json")); bad {
		faults = append(faults, f)
	}
	if text := strangersIn(dir); text != "" && !running {
		faults = append(faults, StateFault{Text: text, Do: "let STATE_DIR and all in it belong to the account that runs floatrelay", Grave: true})
	}
	if text := openToOthers(dir); text != "" {
		faults = append(faults, StateFault{Text: text, Do: "let only the account that runs floatrelay write there"})
	}
	return faults
}

func checkNode(path string) (StateFault, bool) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return StateFault{}, false
	case err != nil:
		return unreadable(path, err), true
	}
	if _, err := uuid.Parse(strings.TrimSpace(string(b))); err != nil {
		return StateFault{
			Text: fmt.Sprintf("the file %s is damaged: it does not hold a node id", path),
			Do:   "delete this file; the daemon makes a new node id", Grave: true,
		}, true
	}
	return StateFault{}, false
}

func checkSaved(path string) (StateFault, bool) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return StateFault{}, false
	case err != nil:
		return unreadable(path, err), true
	}
	if versionOf(b) > stateVersion {
		return StateFault{
			Text: fmt.Sprintf("the file %s was written by a newer floatrelay", path),
			Do:   "install the newer floatrelay again, or delete the file", Grave: true,
		}, true
	}
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		return StateFault{
			Text: fmt.Sprintf("the file %s is damaged, as after a power cut", path),
			Do:   "nothing: the daemon puts it aside and starts without it; drain this PC again if it was drained",
		}, true
	}
	return StateFault{}, false
}

func unreadable(path string, err error) StateFault {
	return StateFault{
		Text: fmt.Sprintf("the file %s cannot be read: %v", path, err),
		Do:   "let the account that runs floatrelay read and write STATE_DIR and what is in it", Grave: true,
	}
}
