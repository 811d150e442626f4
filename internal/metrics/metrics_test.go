package metrics

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// rig is a daemon whose state a test sets.
type rig struct {
	*Metrics
	status arbiter.Status
	now    time.Duration
}

func newRig() *rig {
	r := &rig{}
	r.Metrics = New(Source{
		Version: "v1.2.3", Status: func() arbiter.Status { return r.status },
		Members: func() map[string]int { return map[string]int{"alive": 3, "dead": 1} },
		Now:     func() time.Duration { return r.now },
	})
	return r
}

// scrape returns the lines of /metrics.
func (r *rig) scrape(t *testing.T) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code, w.Body.String())
	return "\n" + w.Body.String()
}

func (r *rig) shows(t *testing.T, line string) {
	t.Helper()
	text := r.scrape(t)
	require.Contains(t, text, "\n"+line+"\n", "of %s", strings.Join(named(text, line), "\n"))
}

// named are the lines of the metric that line is of.
func named(text, line string) []string {
	name, _, _ := strings.Cut(line, " ")
	name, _, _ = strings.Cut(name, "{")
	var out []string
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, name) {
			out = append(out, strings.TrimSpace(l))
		}
	}
	return out
}

var (
	alice = lease.ID{Node: "a", Run: "1"}
	bob   = lease.ID{Node: "b", Run: "1"}
	carol = lease.ID{Node: "c", Run: "1"}
)

// used is a daemon on which everything has happened once.
func used(t *testing.T) *rig {
	t.Helper()
	r := newRig()
	r.Status(leading(7, "fence"))
	r.Status(arbiter.Status{Role: arbiter.Client, Epoch: 8})
	r.Event(arbiter.RelayDown{Cause: arbiter.DownExited})
	r.Event(arbiter.BeatReceived{From: alice, Num: 1})
	r.Event(arbiter.VouchReceived{From: bob, Num: 1})
	_, err := r.Store(fakeStore{}).List(t.Context())
	require.NoError(t, err)
	return r
}

func leading(epoch uint64, reason string) arbiter.Status {
	return arbiter.Status{Role: arbiter.Leader, Epoch: epoch, Head: lease.Entry{
		Kind: lease.Valid, Record: lease.Record{State: lease.Held, Reason: reason, Epoch: epoch, Owner: alice},
	}}
}

// The names and helps of what is ours pass client_golang's linter.
func TestMetrics_NamesPassTheLinter(t *testing.T) {
	text := strings.TrimPrefix(used(t).scrape(t), "\n")
	require.Contains(t, text, "floatrelay_takeovers_total")
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	var ours []promlint.Problem
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, namespace) {
			ours = append(ours, p)
		}
	}
	require.Empty(t, ours)
}

// Two daemons in one process do not get into each other's way: nothing is
// registered globally.
func TestMetrics_RegistryOfItsOwn(t *testing.T) {
	a, b := newRig(), newRig()
	a.Event(arbiter.BeatReceived{From: alice, Num: 1})
	a.shows(t, "floatrelay_beats_received_total 1")
	b.shows(t, "floatrelay_beats_received_total 0")
}

func TestMetrics_State(t *testing.T) {
	r := newRig()
	r.now = 100 * time.Second
	r.status = arbiter.Status{
		Role: arbiter.Leader, Eligible: true, Epoch: 7, Rev: 42, Restarts: 2, Relay: arbiter.RelayRunning,
		Deadline: r.now + 1250*time.Millisecond, ShareOK: r.now - 3*time.Second, Roster: []lease.ID{bob, carol},
	}
	for _, line := range []string{
		`floatrelay_role{role="leader"} 1`, `floatrelay_role{role="client"} 0`, `floatrelay_role{role="ineligible"} 0`,
		"floatrelay_epoch 7", "floatrelay_rev 42", "floatrelay_eligible 1", "floatrelay_relay_running 1",
		"floatrelay_relay_restarts_total 2", "floatrelay_fence_margin_seconds 1.25", "floatrelay_share_silent_seconds 3",
		"floatrelay_roster_members 2", `floatrelay_members{state="alive"} 3`, `floatrelay_members{state="left"} 0`,
	} {
		r.shows(t, line)
	}
	require.Contains(t, r.scrape(t), `version="v1.2.3"} 1`)
	t.Run("a deadline that has passed is no margin", func(t *testing.T) {
		r.now += time.Minute
		r.shows(t, "floatrelay_fence_margin_seconds 0")
	})
	t.Run("a share that never answered", func(t *testing.T) {
		r.status.ShareOK = 0
		r.shows(t, "floatrelay_share_silent_seconds -1")
	})
}

func TestMetrics_Status_CountsTenures(t *testing.T) {
	r := newRig()
	r.Status(arbiter.Status{Role: arbiter.Client})
	r.Status(leading(7, "fence"))
	r.Status(leading(7, "renew"))
	r.shows(t, `floatrelay_takeovers_total{reason="fence"} 1`)
	released := arbiter.Status{Role: arbiter.Client, Epoch: 7, Head: lease.Entry{Kind: lease.Valid, Record: lease.Record{State: lease.Released}}}
	r.Status(released)
	r.Status(leading(8, "released"))
	r.Status(arbiter.Status{Role: arbiter.Ineligible, Epoch: 9})
	r.shows(t, `floatrelay_takeovers_total{reason="released"} 1`)
	r.shows(t, `floatrelay_tenures_ended_total{how="released"} 1`)
	r.shows(t, `floatrelay_tenures_ended_total{how="lost"} 1`)
	require.NotContains(t, r.scrape(t), `reason="renew"`)
}

func TestMetrics_Net_CountsWhatIsMissing(t *testing.T) {
	t.Run("beats", func(t *testing.T) {
		r := newRig()
		for _, num := range []uint64{5, 6, 9, 8} { // 7 lost; 8 came too late
			r.Event(arbiter.BeatReceived{From: alice, Num: num})
		}
		r.shows(t, "floatrelay_beats_lost_total 2")
		r.now += time.Minute // off the leader's list meanwhile
		r.Event(arbiter.BeatReceived{From: alice, Num: 200})
		r.Event(arbiter.BeatReceived{From: bob, Num: 7}) // another leader counts anew
		r.shows(t, "floatrelay_beats_lost_total 2")
	})
	t.Run("vouches", func(t *testing.T) {
		r := newRig()
		r.status.Deadline = time.Second
		net := r.Net(fakeNet{})
		for num := uint64(1); num <= 20; num++ {
			require.NoError(t, net.SendBeat([]lease.ID{bob, carol}, num, nil))
			r.Event(arbiter.VouchReceived{From: bob, Num: num})
			if num%2 == 0 {
				r.Event(arbiter.VouchReceived{From: carol, Num: num})
			}
		}
		r.shows(t, "floatrelay_beats_sent_total 40")
		r.shows(t, "floatrelay_vouches_received_total 30")
		r.shows(t, "floatrelay_vouches_lost_total 6") // carol's for 1, 3, … 11; the newest eight are still open
		r.shows(t, "floatrelay_fence_margin_at_beat_seconds_count 20")
		require.NoError(t, net.SendVouch(alice, "1", 1))
		r.shows(t, "floatrelay_vouches_sent_total 1")
	})
}

func TestMetrics_Store_TimesEveryCall(t *testing.T) {
	r := newRig()
	ctx := t.Context()
	for _, err := range []error{nil, fmt.Errorf("create: %w", lease.ErrExists), lease.ErrUnavailable, lease.ErrUnknown, lease.ErrDenied, context.DeadlineExceeded} {
		require.Equal(t, err, r.Store(fakeStore{err}).Create(ctx, "s", 1, nil), "passed on")
	}
	s := r.Store(fakeStore{})
	_, err := s.List(ctx)
	require.NoError(t, err)
	_, err = s.Read(ctx, "s", 1)
	require.NoError(t, err)
	require.NoError(t, s.Found(ctx, "s", 1, nil))
	require.NoError(t, s.Delete(ctx, "s", nil))
	require.NoError(t, s.Publish(ctx, lease.View{}))
	for op, n := range map[string]int{"create": 1, "list": 1, "read": 1, "found": 1, "delete": 1, "publish": 1} {
		r.shows(t, fmt.Sprintf(`floatrelay_share_operation_duration_seconds_count{op="%s",outcome="ok"} %d`, op, n))
	}
	for outcome, n := range map[string]int{"exists": 1, "unavailable": 1, "denied": 1, "unknown": 2} {
		r.shows(t, fmt.Sprintf(`floatrelay_share_operation_duration_seconds_count{op="create",outcome="%s"} %d`, outcome, n))
	}
}

// fakeStore answers every call with err.
type fakeStore struct{ err error }

func (f fakeStore) List(context.Context) (lease.Listing, error)          { return lease.Listing{}, f.err }
func (f fakeStore) Read(context.Context, string, uint64) ([]byte, error) { return nil, f.err }
func (f fakeStore) Create(context.Context, string, uint64, []byte) error { return f.err }
func (f fakeStore) Found(context.Context, string, uint64, []byte) error  { return f.err }
func (f fakeStore) Delete(context.Context, string, []uint64) error       { return f.err }
func (f fakeStore) Publish(context.Context, lease.View) error            { return f.err }

type fakeNet struct{}

func (fakeNet) SendBeat([]lease.ID, uint64, []byte) error { return nil }
func (fakeNet) SendVouch(lease.ID, string, uint64) error  { return nil }
func (fakeNet) SendHead(lease.ID, []byte, bool) error     { return nil }
func (fakeNet) Watch(lease.ID)                            {}
