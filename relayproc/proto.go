package relayproc

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxLine bounds a line of the protocol between daemon and guard, in bytes.
const maxLine = 4 << 20

// order is one line from the daemon to the guard.
type order struct {
	kind  string // until, will, stop, kill, ready, owns; eof when the daemon is gone
	seq   uint64
	until time.Duration // until: boot time
	will  []byte
	grace time.Duration
	pid   int
}

func (o order) String() string {
	switch o.kind {
	case "until":
		return fmt.Sprintf("until %d %d", o.seq, int64(o.until))
	case "will":
		return "will " + base64.StdEncoding.EncodeToString(o.will)
	case "stop":
		return fmt.Sprintf("stop %d", o.grace.Milliseconds())
	case "owns":
		return fmt.Sprintf("owns %d", o.pid)
	}
	return o.kind
}

func parseOrder(line string) (order, error) {
	f := strings.Fields(line)
	if len(f) == 0 {
		return order{}, fmt.Errorf("read order: empty line")
	}
	o, err := order{kind: f[0]}, error(nil)
	switch {
	case o.kind == "until" && len(f) == 3:
		var ns int64
		if o.seq, err = strconv.ParseUint(f[1], 10, 64); err == nil {
			ns, err = strconv.ParseInt(f[2], 10, 64)
		}
		o.until = time.Duration(ns)
	case o.kind == "will" && len(f) <= 2:
		if len(f) == 2 {
			o.will, err = base64.StdEncoding.DecodeString(f[1])
		}
	case o.kind == "stop" && len(f) == 2:
		var ms int64
		ms, err = strconv.ParseInt(f[1], 10, 64)
		o.grace = time.Duration(ms) * time.Millisecond
	case o.kind == "owns" && len(f) == 2:
		o.pid, err = strconv.Atoi(f[1])
	case (o.kind == "kill" || o.kind == "ready") && len(f) == 1:
	default:
		err = fmt.Errorf("not understood")
	}
	if err != nil {
		return order{}, fmt.Errorf("read order %q: %w", clip(line, 80), err)
	}
	return o, nil
}

// readLines sends each line of r to out and closes it at the end of r. done
// lets it give up when nobody reads any more.
func readLines(r io.Reader, out chan<- string, done <-chan struct{}) {
	defer close(out)
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 4096), maxLine)
	sc.Split(wholeLines)
	for sc.Scan() {
		select {
		case out <- sc.Text():
		case <-done:
			return
		}
	}
}

// wholeLines splits like bufio.ScanLines but drops an unfinished last line: the
// other side died while it wrote it.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if atEOF && bytes.IndexByte(data, '\n') < 0 {
		return len(data), nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

// The answers of the guard, one line each:
//
//	forked <pid> [whole]  the relay's holder runs; whole: its end is the end of all
//	started <pid>         the relay's first process
//	acked <seq>           that deadline is in force
//	owns <pid> yes|no     answer to owns
//	waiting <note>        cannot start yet
//	exited <text>         the relay ended by itself
//	dead <cause> <note>   tree dead, ports closed; the last line
const (
	ansForked  = "forked"
	ansStarted = "started"
	ansAcked   = "acked"
	ansOwns    = "owns"
	ansWaiting = "waiting"
	ansExited  = "exited"
	ansDead    = "dead"
)

func causeNamed(name string) (Cause, bool) {
	for c := Stopped; c <= GuardLost; c++ {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

// oneLine makes a note fit into one line of the protocol.
func oneLine(s string) string { return clip(strings.Join(strings.Fields(s), " "), 500) }

// clip cuts s to at most n bytes, at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
