package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readFile returns the content of a plain file. Anything else is refused before
// it is opened: opening a pipe waits for a writer, and a device never ends.
func readFile(path string) ([]byte, *Error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if what := notFile(st.Mode()); what != "" {
		return nil, &Error{File: path, Cause: "this is a " + what + ", not a file", Want: "name a stk.ini with --config"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case len(data) > maxFile:
		return nil, &Error{File: path, Cause: fmt.Sprintf("this is larger than %d bytes, which no stk.ini is", maxFile),
			Want: "name the right file with --config"}
	}
	return data, nil
}

// notFile names what is no file to read settings from, or returns "". A file
// that is merely kept in an unusual way, such as by a cloud folder, is one.
func notFile(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe (fifo)"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return ""
}

// unreadable says why a file was not read, and names it once.
func unreadable(path string, err error) *Error {
	cause := err
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		cause = pathErr.Err
	}
	e := &Error{File: path, Cause: "cannot be read: " + cause.Error(), Want: "check that the disk or share answers", err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Cause, e.Want = "there is no such file", "name another with --config, or write one (floatrelay config --template)"
		if txt := hiddenTxt(path); txt != "" {
			e.Want = "rename " + txt + ", which is there, to " + FileName
		}
	case errors.Is(err, fs.ErrPermission):
		e.Want = "let this account read it, or run the command as an administrator (root)"
	}
	return e
}
