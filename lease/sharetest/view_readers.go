package sharetest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	// Publications and Every size the test; zero means 1,000 and one read per
	// millisecond and reader.
	Publications int
	Every        time.Duration
}

// ViewIsSeenWhole publishes many views while readers open the file all the
// time. Every one of them must see a whole file: exactly one that was
// published, and never an older one than it has seen before.
func ViewIsSeenWhole(t *testing.T, target ViewTarget) {
	t.Helper()
	if target.Publications == 0 {
		target.Publications = 1000
	}
	if target.Every == 0 {
		target.Every = time.Millisecond
	}
	chain := lease.NewChain(target.Write)
	require.NoError(t, chain.Publish(t.Context(), numberedView(0)))
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for name, read := range target.Readers {
		readers.Go(func() {
			w := viewWatcher{target: target, read: read}
			if err := w.run(ctx); err != nil {
				t.Errorf("%s: after %d whole files: %v", name, w.whole, err)
			}
			t.Logf("%s: %d whole files, %d different ones, %d opens refused", name, w.whole, w.different, w.refused)
			if w.whole < 20 || w.different < 10 {
				t.Errorf("%s saw too little to prove anything", name)
			}
		})
	}
	for i := range target.Publications {
		if err := chain.Publish(t.Context(), numberedView(i+1)); err != nil {
			t.Errorf("publication %d: %v", i+1, err)
			break
		}
	}
	stop()
	readers.Wait()
	v, warnings, err := chain.ReadView(t.Context())
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, numberedView(target.Publications), v)
	names, err := target.Write.List(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, []string{lease.ViewName}, names, "something is left behind")
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
	target                    ViewTarget
	read                      func() ([]byte, error)
	whole, different, refused int
}

// run reads until ctx ends or something is wrong.
func (w *viewWatcher) run(ctx context.Context) error {
	tick := time.NewTicker(w.target.Every)
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
			w.whole++
			if n > last {
				w.different++
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
	v, warnings, err := lease.ParseView(body)
	if err != nil || len(warnings) > 0 {
		return 0, fmt.Errorf("read %d bytes: %w %v: %q", len(body), err, warnings, body)
	}
	if !bytes.Equal(body, numberedView(v.PID).Encode()) {
		return 0, fmt.Errorf("read a view nobody published: %q", body)
	}
	return v.PID, nil
}
