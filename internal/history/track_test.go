package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

var (
	alice = lease.ID{Node: "a", Run: "1"}
	bob   = lease.ID{Node: "b", Run: "1"}
)

func head(owner lease.ID, station string, epoch uint64, state lease.State, reason string) lease.Entry {
	return lease.Entry{Kind: lease.Valid, Record: lease.Record{Owner: owner, Station: station, Epoch: epoch, State: state, Reason: reason}}
}

// tell replays statuses one minute apart and returns what is remembered, one
// line each.
func tell(ss ...arbiter.Status) []string {
	tr := Tracker{Station: "POS-01"}
	var out []string
	for i, s := range ss {
		now := time.Duration(i) * time.Minute
		for _, p := range tr.Change(day, now, s) {
			line := p.Kind + ": " + p.Text
			if p.Reason != "" {
				line += " (" + p.Reason + ")"
			}
			if p.LastedMS > 0 {
				line += fmt.Sprintf(" after %v", time.Duration(p.LastedMS)*time.Millisecond)
			}
			out = append(out, line)
		}
	}
	return out
}

func TestTracker_Change(t *testing.T) {
	renew := head(bob, "POS-02", 7, lease.Held, "renew")
	won := head(alice, "POS-01", 8, lease.Held, "fence")
	t.Run("a takeover and its end", func(t *testing.T) {
		require.Equal(t, []string{
			"role: this PC is client, was ineligible",
			"lease: POS-02 has the lease, epoch 7",
			"lease: POS-01 has the lease, epoch 8; POS-02 had it (fence) after 2m0s",
			"role: this PC is leader, was client after 3m0s",
			"relay: relay ready (pid 4711)",
			"relay: relay is being stopped after 1m0s",
			"lease: POS-01 gave the lease back (handoff) after 3m0s",
			"role: this PC is client, was leader after 3m0s",
		}, tell(
			arbiter.Status{Role: arbiter.Client},
			arbiter.Status{Role: arbiter.Client, Head: renew},
			arbiter.Status{Role: arbiter.Candidate, Head: renew},
			arbiter.Status{Role: arbiter.Leader, Head: won, Relay: arbiter.RelayStarting},
			arbiter.Status{Role: arbiter.Leader, Head: won, Relay: arbiter.RelayRunning, RelayPID: 4711},
			arbiter.Status{Role: arbiter.Leader, Head: won, Relay: arbiter.RelayStopping},
			arbiter.Status{Role: arbiter.Client, Head: head(alice, "POS-01", 8, lease.Released, "handoff")},
		))
	})
	t.Run("an unreadable head changes nothing", func(t *testing.T) {
		require.Equal(t, []string{"lease: POS-02 has the lease, epoch 7"}, tell(
			arbiter.Status{Role: arbiter.Ineligible, Head: renew},
			arbiter.Status{Role: arbiter.Ineligible, Head: lease.Entry{Kind: lease.Unknown}},
			arbiter.Status{Role: arbiter.Ineligible, Head: renew},
		))
	})
	t.Run("a wish that comes to nothing is no event", func(t *testing.T) {
		require.Empty(t, tell(
			arbiter.Status{Role: arbiter.Ineligible}, arbiter.Status{Role: arbiter.Candidate}, arbiter.Status{Role: arbiter.Ineligible},
		))
	})
	t.Run("why this PC may not lead", func(t *testing.T) {
		require.Equal(t, []string{
			"role: this PC is client, was ineligible",
			"role: this PC is ineligible, was client (drained by hand; 'floatrelay undrain' ends it) after 1m0s",
		}, tell(arbiter.Status{Role: arbiter.Client}, arbiter.Status{Role: arbiter.Ineligible, Reasons: reason.Of(reason.Drained)}))
	})
}
