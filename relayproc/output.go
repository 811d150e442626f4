package relayproc

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/traditionalchinese"
)

const (
	outputLine  = 2000 // bytes of a line that are kept
	outputBurst = 500  // lines per outputSpan that are kept
	outputSpan  = time.Second
	outputQueue = 1000 // lines waiting for a slow sink
	outputPiece = 32 << 10
)

// pumpOutput reads the relay's output to its end and hands it to sink line by
// line. It never stops reading: a full pipe would stop the relay. What is too
// long, too much or too fast for the sink is dropped and counted.
func pumpOutput(r io.Reader, sink func(string)) {
	lines := make(chan string, outputQueue)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for line := range lines {
			if sink != nil {
				sink(line)
			}
		}
	}()
	l := limiter{now: time.Now, put: func(s string) bool {
		select {
		case lines <- s:
			return true
		default:
			return false
		}
	}}
	readOutput(r, l.line)
	l.report()
	close(lines)
	<-done
}

// readOutput cuts r into lines of at most outputLine bytes. A line not ended
// within outputSpan, a prompt or an endless one, is handed on as it stands.
func readOutput(r io.Reader, emit func(raw []byte, cut int)) {
	pieces := make(chan []byte)
	go readPieces(r, pieces)
	var line []byte
	cut := 0
	overdue := time.NewTimer(outputSpan)
	defer overdue.Stop()
	show := func() {
		if len(line) > 0 {
			emit(line, cut)
		}
		line, cut = line[:0], 0
	}
	for {
		select {
		case piece, ok := <-pieces:
			if !ok {
				show()
				return
			}
			for part := range bytes.Lines(piece) {
				if len(line) == 0 {
					overdue.Reset(outputSpan)
				}
				room := min(max(outputLine-len(line), 0), len(part))
				line = append(line, part[:room]...)
				cut += len(part) - room
				if part[len(part)-1] == '\n' {
					show()
				}
			}
		case <-overdue.C:
			show()
		}
	}
}

// readPieces sends what r gives, in two buffers by turns: the receiver is done
// with a piece when it takes the next.
func readPieces(r io.Reader, pieces chan<- []byte) {
	defer close(pieces)
	for buf, other := make([]byte, outputPiece), make([]byte, outputPiece); ; buf, other = other, buf {
		n, err := r.Read(buf)
		if n > 0 {
			pieces <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

// limiter lets outputBurst lines through per outputSpan and counts the rest.
type limiter struct {
	now     func() time.Time
	put     func(string) bool
	since   time.Time
	passed  int
	dropped int
}

func (l *limiter) line(raw []byte, cut int) {
	if now := l.now(); now.Sub(l.since) >= outputSpan {
		l.report()
		l.since, l.passed = now, 0
	}
	text := readable(raw)
	if cut > 0 {
		text += fmt.Sprintf(" … (%d bytes more)", cut)
	}
	if l.passed < outputBurst && l.put(text) {
		l.passed++
	} else {
		l.dropped++
	}
}

func (l *limiter) report() {
	if l.dropped > 0 && l.put(fmt.Sprintf("(%d lines of the relay's output dropped)", l.dropped)) {
		l.dropped = 0
	}
}

// readable makes a line fit for a log: valid UTF-8 without control characters.
// What is not UTF-8 is taken for cp950, the code page of the PCs this runs on,
// unless that gives nonsense as well.
func readable(raw []byte) string {
	s := strings.TrimRight(string(raw), "\r\n")
	if !utf8.ValidString(s) {
		s = fromCP950(s)
	}
	return strings.Map(printable, s)
}

func fromCP950(s string) string {
	text, err := traditionalchinese.Big5.NewDecoder().String(s)
	if err != nil || strings.Count(text, "\uFFFD")*4 > utf8.RuneCountInString(text) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return text
}

func printable(r rune) rune {
	if r != '\t' && unicode.IsControl(r) {
		return '\uFFFD'
	}
	return r
}
