package standin

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/clock"
)

// lifeEvery is the distance of two heartbeat lines; an overlap is measured to
// about this exactness.
const lifeEvery = 4 * time.Millisecond

// life writes one process's part of the life log: lines of
//
//	<what> <pid> <boot ns> <epoch> <station>
//
// where what is start, listen, alive or stop. Several processes append to the
// same file, so each line is one write.
type life struct {
	file    *os.File
	tail    string
	pid     int
	stop    chan struct{}
	stopped sync.WaitGroup
}

// openLife starts the log; with no path it returns one that does nothing.
func openLife(cfg Config) (*life, error) {
	l := &life{pid: hostPID(), tail: fmt.Sprintf("%d %s", cfg.Epoch, cfg.Station), stop: make(chan struct{})}
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

// Span is the life of one relay as its own processes wrote it: all processes
// of one station and epoch together. Times are boot time.
type Span struct {
	Station     string
	Epoch       uint64
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
		addLine(spans, sc.Text())
	}
	var out []Span
	for _, s := range spans {
		out = append(out, *s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].First < out[j].First })
	return out, nil
}

func addLine(spans map[string]*Span, line string) {
	var what, station string
	var pid int
	var at int64
	var epoch uint64
	if n, _ := fmt.Sscan(line, &what, &pid, &at, &epoch); n < 4 {
		return
	}
	if f := strings.SplitN(line, " ", 5); len(f) == 5 {
		station = f[4]
	}
	key := fmt.Sprint(epoch, " ", station)
	s := spans[key]
	if s == nil {
		s = &Span{Station: station, Epoch: epoch, First: time.Duration(at)}
		spans[key] = s
	}
	s.First = min(s.First, time.Duration(at))
	s.Last = max(s.Last, time.Duration(at))
	if what == "listen" && s.Listening == 0 {
		s.Listening = time.Duration(at)
	}
	if what == "start" {
		s.PIDs = append(s.PIDs, pid)
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
