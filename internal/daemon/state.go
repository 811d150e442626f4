package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/convertfw/floatrelay/internal/atomicfile"
)

// stateVersion is the format of state.json this build writes. An older one is
// understood, a newer one refused.
const stateVersion = 1

// state is what must survive a restart and is not the chain's to keep.
type state struct {
	V       int    `json:"v"`
	Rev     uint64 `json:"rev"`   // newest readable record ever known here
	Epoch   uint64 `json:"epoch"` // its epoch: neither may fall when the folder is lost
	Drained bool   `json:"drained,omitempty"`
}

// stateFile keeps state in STATE_DIR/state.json.
type stateFile struct {
	path string
	// damaged is where a file that could not be read was put aside, or empty.
	damaged string

	mu  sync.Mutex
	now state
}

func openState(dir string) (*stateFile, error) {
	f := &stateFile{path: filepath.Join(dir, "state.json"), now: state{V: stateVersion}}
	b, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the saved state: %w", err)
	}
	if v := versionOf(b); v > stateVersion {
		return nil, fmt.Errorf("read the saved state: %s has format %d, this build reads up to %d: install the newer floatrelay again, or delete the file", f.path, v, stateVersion)
	}
	var s state
	if err := json.Unmarshal(b, &s); err != nil {
		// A file torn by a power cut must not keep the site without its relay:
		// the chain on the share is the better source anyway.
		f.damaged = f.path + ".damaged"
		_ = os.Rename(f.path, f.damaged)
		return f, nil
	}
	s.V = stateVersion
	f.now = s
	return f, nil
}

// versionOf is the format that a saved state names, 0 if it names none. It is read
// alone: a newer format may give the other fields another shape.
func versionOf(b []byte) int {
	var only struct {
		V int `json:"v"`
	}
	if json.Unmarshal(b, &only) != nil {
		return 0
	}
	return only.V
}

func (f *stateFile) get() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// update changes the state and writes it if it differs.
func (f *stateFile) update(change func(*state)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.now
	change(&next)
	if next == f.now {
		return nil
	}
	b, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	if err := writeFile(f.path, append(b, '\n')); err != nil {
		return err
	}
	f.now = next
	return nil
}

// writeFile replaces a file in STATE_DIR.
func writeFile(path string, b []byte) error {
	if err := atomicfile.Write(path, b); err != nil {
		return fmt.Errorf("%w; is STATE_DIR writable for this account?", err)
	}
	return nil
}
