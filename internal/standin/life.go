package standin

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
)

// lifeEvery is the distance of two heartbeat lines; an overlap is measured to
// about this exactness.
const lifeEvery = 4 * time.Millisecond

// treeEnv names the variable by which the processes of one tree know each other.
// The first process of a tree always draws a new value, so that two trees never
// pass for one.
const treeEnv = "FLOATRELAY_STANDIN_TREE"

// life writes one process's part of the life log: lines of
//
//	<what> <pid> <boot ns> <epoch> @<tree> <station>
//
// where what is start, listen, alive or stop. Several processes append to the
// same file, so each line is one write. Releases up to 0.1.0 left @<tree> out.
type life struct {
	file    *os.File
	tail    string
	pid     int
	stop    chan struct{}
	stopped sync.WaitGroup
}

// openLife starts the log; with no path it returns one that does nothing.
func openLife(cfg Config) (*life, error) {
	l := &life{
		pid: hostPID(), stop: make(chan struct{}),
		tail: fmt.Sprintf("%d @%s %s", cfg.Epoch, cfg.tree, cfg.Station),
	}
	if cfg.LifeLog == "" {
		return l, nil
	}
	f, err := os.OpenFile(cfg.LifeLog, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open life log: %w", err)
	}
	l.file = f
	l.line("start")
	l.stopped.Go(l.beat)
	return l, nil
}

func (l *life) beat() {
	t := time.NewTicker(lifeEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.line("alive")
		case <-l.stop:
			return
		}
	}
}

func (l *life) line(what string) {
	if l.file != nil {
		fmt.Fprintf(l.file, "%s %d %d %s\n", what, l.pid, int64(clock.Boot()), l.tail)
	}
}

func (l *life) close() {
	close(l.stop)
	l.stopped.Wait()
	l.line("stop")
	if l.file != nil {
		l.file.Close()
	}
}

// Span is the life of one relay as its own processes wrote it: all processes of
// one tree together. Two trees of one station and epoch are two spans. Times are
// boot time.
type Span struct {
	Station     string
	Epoch       uint64
	Tree        string // drawn by the tree's first process
	PIDs        []int
	First, Last time.Duration
	Listening   time.Duration // when the ports were first owned; zero if never
}

// ReadLife reads a life log into spans, ordered by their begin. A torn last
// line is ignored.
func ReadLife(path string) ([]Span, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read life log: %w", err)
	}
	defer f.Close()
	spans := map[string]*Span{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if line, ok := ParseLife(sc.Text()); ok {
			addLine(spans, line)
		}
	}
	var out []Span
	for _, s := range spans {
		out = append(out, *s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].First < out[j].First })
	return out, nil
}

// Line is one line of a life log.
type Line struct {
	What    string // start, listen, alive or stop
	PID     int
	At      time.Duration // boot time
	Epoch   uint64
	Tree    string // empty in a log of release 0.1.0
	Station string
}

// ParseLife reads one line of a life log; false if it is torn.
func ParseLife(text string) (l Line, ok bool) {
	f := strings.SplitN(text, " ", 5)
	if len(f) < 5 {
		return Line{}, false
	}
	pid, err1 := strconv.Atoi(f[1])
	at, err2 := strconv.ParseInt(f[2], 10, 64)
	epoch, err3 := strconv.ParseUint(f[3], 10, 64)
	l = Line{What: f[0], PID: pid, At: time.Duration(at), Epoch: epoch, Station: f[4]}
	if rest, marked := strings.CutPrefix(f[4], "@"); marked {
		l.Tree, l.Station, _ = strings.Cut(rest, " ")
	}
	return l, errors.Join(err1, err2, err3) == nil
}

func addLine(spans map[string]*Span, l Line) {
	key := fmt.Sprint(l.Epoch, " ", l.Tree, " ", l.Station)
	s := spans[key]
	if s == nil {
		s = &Span{Station: l.Station, Epoch: l.Epoch, Tree: l.Tree, First: l.At}
		spans[key] = s
	}
	s.First = min(s.First, l.At)
	s.Last = max(s.Last, l.At)
	switch {
	case l.What == "listen" && s.Listening == 0:
		s.Listening = l.At
	case l.What == "start":
		s.PIDs = append(s.PIDs, l.PID)
	}
}

// Overlap returns for how long two of the spans lived at the same time, the
// longest of all pairs; zero if no two did.
func Overlap(spans []Span) time.Duration {
	var worst time.Duration
	for i, a := range spans {
		for _, b := range spans[i+1:] {
			worst = max(worst, min(a.Last, b.Last)-max(a.First, b.First))
		}
	}
	return worst
}
