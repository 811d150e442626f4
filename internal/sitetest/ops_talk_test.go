package sitetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localsite"
	"github.com/convertfw/floatrelay/internal/standin"
)

const (
	// opsEvery is the distance of two messages.
	opsEvery = 20 * time.Millisecond
	// opsGap is the longest silence a client may see around a handoff.
	opsGap = 500 * time.Millisecond
)

// opsLimit is opsGap where nothing else runs (PROVE_EXACT=1). On a machine that
// is busy with other tests it says nothing of how long a handoff takes; that all
// were handoffs is demanded beside it.
func opsLimit() time.Duration {
	if os.Getenv("PROVE_EXACT") != "" {
		return opsGap
	}
	return slack
}

// opsHandoffs is how many handoffs are tried in a row.
func opsHandoffs(t *testing.T) int {
	text := os.Getenv("PROVE_HANDOFFS")
	if text == "" {
		return 5
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "PROVE_HANDOFFS")
	return n
}

// opsTalk is two clients, one of which sends the other a numbered message every
// 20 ms through whatever relay the site has.
type opsTalk struct {
	s    *site
	stop context.CancelFunc
	done sync.WaitGroup

	mu    sync.Mutex
	seen  map[int]int // number → how often it came
	times []time.Time // when messages came
}

func opsTalking(s *site) *opsTalk {
	k := &opsTalk{s: s}
	return k.begin(k.find)
}

// opsTalkingThrough is opsTalking of programs that know only one address.
func opsTalkingThrough(s *site, addr string) *opsTalk {
	k := &opsTalk{s: s}
	return k.begin(func(context.Context) (string, error) { return addr, nil })
}

func (k *opsTalk) begin(find func(context.Context) (string, error)) *opsTalk {
	k.seen = map[int]int{}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	client := func(name string, frame func([]byte)) *standin.Client {
		c := &standin.Client{KMSN: localsite.KMSN, Station: name, Find: find, Retry: 10 * time.Millisecond, OnFrame: frame}
		k.done.Go(func() { c.Run(ctx) })
		return c
	}
	from := client("CLIENT-A", nil)
	client("CLIENT-B", k.frame)
	k.done.Go(func() { k.send(ctx, from) })
	k.s.t.Cleanup(k.end)
	return k
}

func (k *opsTalk) end() {
	k.stop()
	k.done.Wait()
}

// find asks the daemons, as a program on any PC would ask its own.
func (k *opsTalk) find(ctx context.Context) (string, error) {
	for _, n := range k.s.Nodes {
		if !n.Running() {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		l, ok, err := n.Client().Leader(ask)
		cancel()
		if err == nil && ok && l.Ready {
			return net.JoinHostPort(l.IP, strconv.Itoa(l.Port)), nil
		}
	}
	return "", localsite.ErrNoLeader
}

func (k *opsTalk) send(ctx context.Context, c *standin.Client) {
	tick := time.NewTicker(opsEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		body, _ := json.Marshal(map[string]int{"number": n})
		_ = c.Send(body) // lost if there is no relay, and never sent again
	}
}

func (k *opsTalk) frame(body []byte) {
	var m struct{ Number int }
	if json.Unmarshal(body, &m) != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen[m.Number]++
	k.times = append(k.times, time.Now())
}

// flows waits until n more messages have come.
func (k *opsTalk) flows(n int) {
	k.s.t.Helper()
	count := func() int {
		k.mu.Lock()
		defer k.mu.Unlock()
		return len(k.times)
	}
	from := count()
	k.s.until(2*slack, "messages come through the relay", func() error {
		if got := count() - from; got < n {
			return fmt.Errorf("%d of %d came", got, n)
		}
		return nil
	})
}

// longest is the longest silence between two messages since a moment.
func (k *opsTalk) longest(since time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	var gap time.Duration
	for i := 1; i < len(k.times); i++ {
		if k.times[i].After(since) {
			gap = max(gap, k.times[i].Sub(k.times[i-1]))
		}
	}
	return gap
}

// once demands that no message came twice.
func (k *opsTalk) once() {
	k.s.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	for n, times := range k.seen {
		require.Equal(k.s.t, 1, times, "message %d came more than once", n)
	}
}

func opsReport(t *testing.T, what string, gaps []time.Duration) {
	t.Helper()
	slices.Sort(gaps)
	ms := make([]int64, len(gaps))
	for i, g := range gaps {
		ms[i] = g.Milliseconds()
	}
	t.Logf("%s: longest silence of a client %v ms, median %d ms", what, ms, ms[len(ms)/2])
}

// opsExplain prints what the daemons said since a moment, if a silence was
// longer than it should be.
func opsExplain(s *site, gap time.Duration, since time.Time) {
	s.t.Helper()
	if gap <= opsGap {
		return
	}
	var lines []string
	for _, n := range s.Nodes {
		for line := range strings.Lines(n.Log()) {
			at, rest, _ := strings.Cut(line, " ")
			if when, err := time.Parse("2006-01-02T15:04:05.000Z07:00", at); err == nil && when.After(since.Add(-time.Millisecond)) {
				lines = append(lines, fmt.Sprintf("%6d ms %s %s", when.Sub(since).Milliseconds(), n.Station, rest))
			}
		}
	}
	slices.Sort(lines)
	s.t.Logf("a silence of %v:\n%s", gap.Round(time.Millisecond), strings.Join(lines, ""))
}
