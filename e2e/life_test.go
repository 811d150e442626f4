//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/convertfw/floatrelay/internal/standin"
)

// lastBeat is the boot time of the newest whole line of a life log.
func lastBeat(path string) (time.Duration, bool) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	const tail = 256
	st, err := f.Stat()
	if err != nil {
		return 0, false
	}
	b := make([]byte, tail)
	n, _ := f.ReadAt(b, max(0, st.Size()-tail))
	lines := bytes.Split(b[:n], []byte("\n"))
	if len(lines) < 3 {
		return 0, false
	}
	return beatOf(string(lines[len(lines)-2]))
}

func beatOf(line string) (time.Duration, bool) {
	var what string
	var pid, at int64
	n, _ := fmt.Sscan(line, &what, &pid, &at)
	return time.Duration(at), n == 3 && what != "stop"
}

// frozenGap is a silence that means a process did not run. Anything shorter
// counts as alive.
const frozenGap = 500 * time.Millisecond

// stretches are the times each relay tree of a station ran, with the silences of a
// frozen process taken out.
func stretches(path string) map[string][]standin.Span {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	all := map[string][]standin.Span{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		l, ok := standin.ParseLife(sc.Text())
		if !ok || l.What == "stop" {
			continue
		}
		tree := fmt.Sprintf("%d %s %s", l.Epoch, l.Tree, l.Station)
		if of := all[tree]; len(of) > 0 && l.At-of[len(of)-1].Last < frozenGap {
			of[len(of)-1].Last = max(of[len(of)-1].Last, l.At)
			continue
		}
		all[tree] = append(all[tree], standin.Span{First: l.At, Last: l.At})
	}
	return all
}

// bothRan is for how long two relays lived at the same time, on one PC or two.
// Without frozen processes, silences count as life.
func (s *site) bothRan(frozen bool) time.Duration {
	if !frozen {
		return max(0, standin.Overlap(s.lives()))
	}
	var trees [][]standin.Span
	for _, p := range s.pcs {
		for _, tree := range stretches(p.lifeLog()) {
			trees = append(trees, tree)
		}
	}
	var sum time.Duration
	for i, a := range trees {
		for _, b := range trees[i+1:] {
			for _, x := range a {
				for _, y := range b {
					sum += max(0, min(x.Last, y.Last)-max(x.First, y.First))
				}
			}
		}
	}
	return sum
}

// born returns the first relay that began to live after mark and listened.
func (s *site) born(mark time.Duration) (standin.Span, bool) {
	var fresh []standin.Span
	for _, sp := range s.lives() {
		if sp.First > mark && sp.Listening > 0 {
			fresh = append(fresh, sp)
		}
	}
	if len(fresh) == 0 {
		return standin.Span{}, false
	}
	return slices.MinFunc(fresh, func(a, b standin.Span) int { return int(a.Listening - b.Listening) }), true
}

// longestGap is the longest time after mark without a relay that listened.
func (s *site) longestGap(mark time.Duration) (gap time.Duration) {
	spans := s.lives()
	slices.SortFunc(spans, func(a, b standin.Span) int { return int(a.First - b.First) })
	until := mark
	for _, sp := range spans {
		if sp.Last < mark || sp.Listening == 0 {
			continue
		}
		if sp.Listening > until {
			gap = max(gap, sp.Listening-until)
		}
		until = max(until, sp.Last)
	}
	return gap
}
