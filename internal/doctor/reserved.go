package doctor

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// portsTime bounds asking the system for its port ranges.
const portsTime = 4 * time.Second

// span is a range of ports, both ends included.
type span struct{ first, last int }

func (s span) has(port int) bool { return s.first <= port && port <= s.last }

func (s span) String() string {
	if s.first == s.last {
		return strconv.Itoa(s.first)
	}
	return fmt.Sprintf("%d-%d", s.first, s.last)
}

// portRanges is what the system does with ports nobody asked for by number.
type portRanges struct {
	// kept are closed to programs: Windows keeps them for Hyper-V, WinNAT and
	// the like.
	kept []span
	// handed are given to programs that want any port, unless in spared.
	handed span
	spared []span
}

// use is one port floatrelay needs.
type use struct {
	port int
	what string // "relay port"
	key  string // of stk.ini
}

// judgeRange says what is wrong with a port's number, whether it is free or not.
func (r portRanges) judgeRange(u use, tell Tell) (bad bool) {
	for _, s := range r.kept {
		if s.has(u.port) {
			tell.Fail("free the range (see 'netsh int ipv4 show excludedportrange tcp') or choose another "+u.key,
				"%s %d is in the range %v, which Windows keeps for itself", u.what, u.port, s)
			return true
		}
	}
	if !r.handed.has(u.port) {
		return false
	}
	for _, s := range r.spared {
		if s.has(u.port) {
			return false
		}
	}
	tell.Warn("choose another "+u.key+", or reserve it: "+reserveHint(u.port),
		"%s %d is in the range %v, from which the system gives any program a port: it can be taken at any moment", u.what, u.port, r.handed)
	return true
}

// rangesCheck compares the ports of stk.ini with the system's ranges.
func rangesCheck(uses []use, ask func(context.Context) portRanges) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		ctx, cancel := context.WithTimeout(ctx, portsTime)
		defer cancel()
		r, err := boundedValue(ctx, func() (portRanges, error) { return ask(ctx), nil })
		if err != nil {
			return // the system does not say
		}
		bad := map[string]bool{} // both ports of a relay have one cure
		for _, u := range uses {
			if !bad[u.key] {
				bad[u.key] = r.judgeRange(u, tell)
			}
		}
	}
}

var twoPorts = regexp.MustCompile(`^\s*(\d+)\s+(\d+)\s*$`)

// parseExcluded reads 'netsh int ipv4 show excludedportrange', in any language.
// Ranges marked with a star were reserved by an administrator, so that nobody
// gets them by chance: they can be used.
func parseExcluded(text string) (kept, spared []span) {
	for _, line := range strings.Split(text, "\n") {
		bare, starred := strings.CutSuffix(strings.TrimRight(line, " \r\t"), "*")
		m := twoPorts.FindStringSubmatch(bare)
		if m == nil {
			continue
		}
		first, _ := strconv.Atoi(m[1])
		last, _ := strconv.Atoi(m[2])
		if starred {
			spared = append(spared, span{first, last})
		} else {
			kept = append(kept, span{first, last})
		}
	}
	return kept, spared
}

var colonNumber = regexp.MustCompile(`:\s*(\d+)\s*$`)

// parseDynamic reads 'netsh int ipv4 show dynamicport', in any language: the
// first number is the begin, the second how many.
func parseDynamic(text string) span {
	var n []int
	for _, line := range strings.Split(text, "\n") {
		if m := colonNumber.FindStringSubmatch(strings.TrimRight(line, " \r\t")); m != nil {
			v, _ := strconv.Atoi(m[1])
			n = append(n, v)
		}
	}
	if len(n) < 2 || n[1] == 0 {
		return span{}
	}
	return span{n[0], n[0] + n[1] - 1}
}

// parseSpans reads Linux' list of ports: "8080,9000-9100".
func parseSpans(text string) (out []span) {
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		a, b, found := strings.Cut(part, "-")
		if !found {
			b = a
		}
		first, err := strconv.Atoi(strings.TrimSpace(a))
		last, err2 := strconv.Atoi(strings.TrimSpace(b))
		if err == nil && err2 == nil {
			out = append(out, span{first, last})
		}
	}
	return out
}
