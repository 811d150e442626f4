package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/convertfw/floatrelay/internal/atomicfile"
	"github.com/convertfw/floatrelay/internal/localapi"
)

// Limit is how many events are kept.
const Limit = 1000

// FileName is the history's file in STATE_DIR.
const FileName = "history.ndjson"

// maxFile bounds what is read: a stray file must not fill the memory. Events
// are about 200 bytes.
const maxFile = 16 << 20

// Read returns the events in STATE_DIR, oldest first, at most Limit. A file
// that is not there has none.
func Read(stateDir string) ([]localapi.Past, error) {
	events, _, err := read(filepath.Join(stateDir, FileName))
	return events, err
}

// read returns the newest events and how many lines there are in all.
func read(path string) (events []localapi.Past, lines int, err error) {
	if st, err := os.Stat(path); err == nil && st.Size() > maxFile {
		return nil, 0, fmt.Errorf("read the history: %s has %d bytes; remove it", path, st.Size())
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the history: %w", err)
	}
	for line := range bytes.Lines(b) {
		lines++
		var p localapi.Past
		if json.Unmarshal(bytes.Trim(line, "\x00\r\n "), &p) == nil && !p.Time.IsZero() {
			events = append(events, p)
		}
	}
	return newest(events), lines, nil
}

func newest(events []localapi.Past) []localapi.Past {
	return events[max(0, len(events)-Limit):]
}

func encode(events []localapi.Past) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, p := range events {
		_ = enc.Encode(p) // strings, numbers and a time: cannot fail
	}
	return b.Bytes()
}

// shorten keeps the newest lines of the file, at most Limit with the fresh events
// behind them, as they are: a newer version may have written what this one does not
// know. What is no JSON is left out. A file that cannot be read begins anew with
// all, what is remembered.
func shorten(path string, fresh, all []localapi.Past) (lines int, err error) {
	var kept [][]byte
	if st, err := os.Stat(path); err == nil && st.Size() <= maxFile {
		b, _ := os.ReadFile(path)
		for line := range bytes.Lines(b) {
			if line = bytes.Trim(line, "\x00\r\n "); json.Valid(line) {
				kept = append(kept, append(line, '\n'))
			}
		}
	}
	if len(kept) == 0 {
		return len(all), replace(path, encode(all))
	}
	kept = kept[max(0, len(kept)+len(fresh)-Limit):]
	return len(kept) + len(fresh), replace(path, append(bytes.Join(kept, nil), encode(fresh)...))
}

func replace(path string, text []byte) error {
	if err := atomicfile.Write(path, text); err != nil {
		return fmt.Errorf("shorten the history: %w", err)
	}
	return nil
}

// add appends events. A torn line before them is ended first, so that it does
// not swallow the next one.
func add(path string, events []localapi.Past) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := f.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	text := encode(events)
	var last [1]byte
	if end > 0 {
		if _, err := f.ReadAt(last[:], end-1); err == nil && last[0] != '\n' {
			text = append([]byte{'\n'}, text...)
		}
	}
	if _, err := f.WriteAt(text, end); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}
