package sharetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/viewread"
	"github.com/convertfw/floatrelay/lease"
)

// ViewTarget says how relay_leader.json is written and read in
// ViewIsSeenWhole.
type ViewTarget struct {
	// Write is the leader's share.
	Write lease.Share
	// Readers open, read and close relay_leader.json as other programs do, by
	// name. All of them run at once.
	Readers map[string]func() ([]byte, error)
	// Momentary reports whether a reader may get this error at the instant of
	// a publication, as on Windows. Nil means never.
	Momentary func(error) bool
	// Publications is how many there are at least; zero means 1,000. Every reader
	// sees as many whole files, a quarter of them different ones.
	Publications int
}

const (
	// viewEvery is how often a reader opens the file, viewPace the pause between
	// two publications, so that each of them is there to be seen.
	viewEvery = time.Millisecond
	viewPace  = 3 * time.Millisecond
	// viewPatience bounds waiting for readers that are slow.
	viewPatience = 90 * time.Second
)

// ViewIsSeenWhole publishes views while readers open the file once a
// millisecond, or as often as the machine lets them, until there were enough of
// both: a slow machine publishes more. Every file opened must be whole: exactly
// one that was published, and never an older one than that reader has seen
// before.
func ViewIsSeenWhole(t *testing.T, target ViewTarget) {
	t.Helper()
	if target.Publications == 0 {
		target.Publications = 1000
	}
	chain := lease.NewChain(target.Write)
	require.NoError(t, chain.Publish(t.Context(), numberedView(0)))
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	begun := time.Now()
	var watchers []*viewWatcher
	for name, read := range target.Readers {
		w := &viewWatcher{target: target, read: read, name: name}
		watchers = append(watchers, w)
		readers.Go(func() {
			if err := w.run(ctx); err != nil {
				w.failed.Store(true)
				t.Errorf("%s: after %d whole files: %v", w.name, w.whole.Load(), err)
			}
		})
	}
	made := publishViews(t, chain, target, watchers)
	stop()
	readers.Wait()
	for _, w := range watchers {
		t.Logf("%s: %d whole files in %v, %d different ones of %d, %d opens refused",
			w.name, w.whole.Load(), time.Since(begun).Round(time.Millisecond), w.different.Load(), made, w.refused)
		if !w.enough() {
			t.Errorf("%s saw too little to prove anything", w.name)
		}
	}
	b, err := target.Write.Read(t.Context(), lease.ViewName)
	require.NoError(t, err)
	require.Equal(t, string(numberedView(made).Encode()), string(b))
	names, err := target.Write.List(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []string{lease.ViewName}, names, "something is left behind")
}

// publishViews returns how many it published: all that are wanted, and more
// until every reader has seen enough or something is wrong.
func publishViews(t *testing.T, chain *lease.Chain, target ViewTarget, watchers []*viewWatcher) (made int) {
	t.Helper()
	busy := func(w *viewWatcher) bool { return !w.enough() && !w.failed.Load() }
	pace := time.NewTicker(viewPace)
	defer pace.Stop()
	for begun := time.Now(); made < target.Publications || slices.ContainsFunc(watchers, busy) && time.Since(begun) < viewPatience; {
		if err := chain.Publish(t.Context(), numberedView(made+1)); err != nil {
			t.Errorf("publication %d: %v", made+1, err)
			break
		}
		made++
		<-pace.C
	}
	return made
}

// numberedView is a view that tells by its rev and its length which one it is.
func numberedView(n int) lease.View {
	return lease.View{
		KMSN: "4711", Station: fmt.Sprintf("%0*d", 1+n%200, n), IP: "192.168.1.10", Port: 9530, PID: n,
		Epoch: uint64(n), LeaseUntil: "20260115123000", Rev: uint64(n), State: lease.Held, Ready: true, V: lease.Version,
	}
}

// viewWatcher is one reader.
type viewWatcher struct {
	target           ViewTarget
	name             string
	read             func() ([]byte, error)
	whole, different atomic.Int64
	refused          int
	failed           atomic.Bool
}

// enough reports whether it has seen what proves something.
func (w *viewWatcher) enough() bool {
	most := int64(w.target.Publications)
	return w.whole.Load() >= most && w.different.Load() >= most/4
}

// run reads until ctx ends or something is wrong.
func (w *viewWatcher) run(ctx context.Context) error {
	tick := time.NewTicker(viewEvery)
	defer tick.Stop()
	last := -1
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		n, err := w.look()
		switch {
		case err != nil:
			return err
		case n < 0:
			w.refused++
		case n < last:
			return fmt.Errorf("view %d after view %d", n, last)
		default:
			w.whole.Add(1)
			if n > last {
				w.different.Add(1)
			}
			last = n
		}
	}
}

// look returns the number of the view that is there now, or -1 if the file
// could not be opened at this instant.
func (w *viewWatcher) look() (int, error) {
	body, err := w.read()
	if err != nil {
		if w.target.Momentary != nil && w.target.Momentary(err) {
			return -1, nil
		}
		return 0, err
	}
	v, err := viewread.Parse(body)
	if err != nil {
		return 0, fmt.Errorf("read %d bytes: %w", len(body), err)
	}
	if !bytes.Equal(body, numberedView(v.PID).Encode()) {
		return 0, fmt.Errorf("read a view nobody published: %q", body)
	}
	return v.PID, nil
}
