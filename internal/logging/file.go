package logging

import (
	"errors"
	"fmt"
	"io"
	"os"

	"gopkg.in/natefinch/lumberjack.v2"
)

// Bounds of the log file: the current one and fileBackups older ones.
const (
	fileMegabytes = 5
	fileBackups   = 4
)

// fileSink is the rotated log file. It is opened by the first line, in the
// goroutine of its queue, because the folder may be on a share that hangs.
type fileSink struct {
	rotated *lumberjack.Logger
	notices io.Writer // told once when the file fails, and when it works again
	divert  bool      // lines that fail go to notices too
	failing bool
	opened  bool
}

func newFileSink(path string, notices io.Writer, divert bool) *fileSink {
	return &fileSink{
		rotated: &lumberjack.Logger{Filename: path, MaxSize: fileMegabytes, MaxBackups: fileBackups, LocalTime: true},
		notices: notices,
		divert:  divert,
	}
}

// Write writes one line. It is called from one goroutine only.
func (f *fileSink) Write(line []byte) (int, error) {
	n, err := f.write(line)
	if failed := err != nil; failed != f.failing {
		f.failing = failed
		f.tell(err)
	}
	if err != nil && f.divert {
		return f.notices.Write(line)
	}
	return n, err
}

// write refuses what is there and is not a file before the rotation sees it:
// it would rename a folder or a device out of its way.
func (f *fileSink) write(line []byte) (int, error) {
	if !f.opened {
		st, err := os.Stat(f.rotated.Filename)
		if err == nil && !st.Mode().IsRegular() {
			return 0, errors.New("it is there already, and is not a file")
		}
	}
	n, err := f.rotated.Write(line)
	f.opened = err == nil
	return n, err
}

func (f *fileSink) tell(err error) {
	text := fmt.Sprintf("the log file %s is written again\n", f.rotated.Filename)
	if err != nil {
		text = fmt.Sprintf("cannot write the log file %s (check LOG_FILE and its folder): %v\n", f.rotated.Filename, err)
	}
	_, _ = io.WriteString(f.notices, text) // there is nowhere else to complain
}

// Close closes the file.
func (f *fileSink) Close() error { return f.rotated.Close() }
