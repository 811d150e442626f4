package localapi

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWatch_BeginsWithThePresentThenFollows(t *testing.T) {
	src := &fakeSource{status: Status{Role: "client", Epoch: 41}, leader: &Leader{Station: "POS-03"}}
	c := client(t, serve(t, src, Options{}), "")
	stop := errors.New("seen enough")
	var got []Event
	err := c.Watch(t.Context(), func(ev Event) error {
		got = append(got, ev)
		if ev.Kind == "now" {
			src.hub.Publish(Event{Kind: "role", Text: "leader of epoch 42", Epoch: 42})
			return nil
		}
		return stop
	})
	require.ErrorIs(t, err, stop)
	require.Len(t, got, 2)
	require.Equal(t, "this PC is client, POS-03 leads", got[0].Text)
	require.Equal(t, uint64(42), got[1].Epoch)
	require.False(t, got[1].Time.IsZero())
}

func TestWatch_EndsWithTheReaderOrTheDaemon(t *testing.T) {
	src := &fakeSource{}
	c := client(t, serve(t, src, Options{}), "")
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, c.Watch(ctx, func(Event) error { cancel(); return nil }))
	err := c.Watch(t.Context(), func(Event) error { src.hub.Close(); return nil })
	require.ErrorIs(t, err, ErrNoDaemon)
}

func TestWatch_NumberIsBounded(t *testing.T) {
	src := &fakeSource{}
	addr := serve(t, src, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started := make(chan struct{}, maxWatchers)
	ended := make(chan error, maxWatchers)
	for range maxWatchers {
		c := client(t, addr, "")
		go func() {
			ended <- c.Watch(ctx, func(Event) error { started <- struct{}{}; return nil })
		}()
	}
	for range maxWatchers {
		<-started
	}
	var refused *RefusedError
	require.ErrorAs(t, client(t, addr, "").Watch(ctx, nil), &refused)
	require.Equal(t, "too many watchers", refused.Reason)
	cancel()
	for range maxWatchers {
		require.NoError(t, <-ended)
	}
}

// A Source that hangs may cost its callers an answer, but not the server its
// goroutines: the calls that hang are counted.
func TestServer_HangingSourceIsAnsweredForAndBounded(t *testing.T) {
	src := &fakeSource{block: make(chan struct{})}
	defer close(src.block)
	s := NewServer(src, Options{})
	s.patience = 50 * time.Millisecond
	addr := serveOn(t, s)
	results := make(chan error, maxRequests)
	for range maxRequests {
		c := client(t, addr, "")
		go func() { _, err := c.Status(t.Context()); results <- err }()
	}
	var refused *RefusedError
	for range maxRequests {
		require.ErrorAs(t, <-results, &refused)
		require.Equal(t, "the daemon did not answer in time", refused.Reason)
	}
	_, err := client(t, addr, "").Members(t.Context())
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "too many requests at once", refused.Reason)
}

func TestHub_NeverBlocksAndTellsWhatWasMissed(t *testing.T) {
	var h Hub
	events, cancel := h.Subscribe()
	for i := range 3 * hubBuffer {
		h.Publish(Event{Text: fmt.Sprint(i)})
	}
	for i := range hubBuffer {
		require.Equal(t, fmt.Sprint(i), (<-events).Text)
	}
	h.Publish(Event{Text: "later"})
	require.Equal(t, fmt.Sprintf("%d events missed: this watcher was too slow", 2*hubBuffer), (<-events).Text)
	require.Equal(t, "later", (<-events).Text)
	cancel()
	cancel()
	_, open := <-events
	require.False(t, open)
	h.Publish(Event{Text: "to nobody"})
}

func TestHub_CloseEndsWatchersNowAndLater(t *testing.T) {
	var h Hub
	events, cancel := h.Subscribe()
	h.Close()
	_, open := <-events
	require.False(t, open)
	cancel()
	events, cancel = h.Subscribe()
	_, open = <-events
	require.False(t, open)
	cancel()
}
