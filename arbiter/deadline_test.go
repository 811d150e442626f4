package arbiter

import (
	"testing"
	"time"

	"github.com/convertfw/floatrelay/lease"
	"github.com/stretchr/testify/require"
)

func TestPrime(t *testing.T) {
	for x, want := range map[time.Duration]time.Duration{
		0:               20 * ms,
		300 * ms:        326 * ms,
		1500 * ms:       1550 * ms,
		10 * sec:        10220 * ms,
		lease.TTLMax:    20420 * ms,
		time.Nanosecond: 20*ms + time.Nanosecond,
	} {
		require.Equal(t, want, prime(x), "%v'", x)
	}
}

func TestKillMargin(t *testing.T) {
	for fence, want := range map[time.Duration]time.Duration{
		300 * ms: 75 * ms, 350 * ms: 87500 * time.Microsecond, 800 * ms: 200 * ms,
		1500 * ms: 200 * ms, 6 * sec: 200 * ms,
	} {
		require.Equal(t, want, KillMargin(fence), "FENCE %v", fence)
	}
}

func TestClaim_Deadline(t *testing.T) {
	const c = 50 * sec
	rec := func(ttl, fence time.Duration, ids ...lease.ID) lease.Record {
		return lease.Record{TTL: ttl, Fence: fence, Roster: ids}
	}
	base := rec(10*sec, 1500*ms, idB, idC)
	vouch := func(b, c time.Duration) map[lease.ID]time.Duration {
		return map[lease.ID]time.Duration{idB: b, idC: c}
	}
	tests := []struct {
		name    string
		recs    []lease.Record
		vouched map[lease.ID]time.Duration
		want    time.Duration
		by      string
	}{
		{"empty roster leaves TTL alone", []lease.Record{rec(10*sec, 1500*ms)}, nil, c + 9800*ms, "ttl"},
		{"nobody vouched: the share's half", []lease.Record{base}, nil, c + 1300*ms, "share"},
		{"one of two never vouched", []lease.Record{base}, map[lease.ID]time.Duration{idB: c + sec}, c + 1300*ms, "share"},
		{"the oldest vouch counts", []lease.Record{base}, vouch(c+2*sec, c+3*sec), c + 3300*ms, "vouches"},
		{"old vouches do not shorten the share's half", []lease.Record{base}, vouch(c-sec, c+3*sec), c + 1300*ms, "share"},
		{"never beyond TTL", []lease.Record{base}, vouch(c+60*sec, c+60*sec), c + 9800*ms, "ttl"},
		{"just below TTL", []lease.Record{base}, vouch(c+8499*ms, c+60*sec), c + 9799*ms, "vouches"},
		{"an attempt adds a silent member", []lease.Record{base, rec(10*sec, 1500*ms, idB, idC, idD)}, vouch(c+2*sec, c+2*sec), c + 1300*ms, "share"},
		{"an attempt drops a silent member: it still counts", []lease.Record{base, rec(10*sec, 1500*ms, idB)}, map[lease.ID]time.Duration{idB: c + 2*sec}, c + 1300*ms, "share"},
		{"an attempt with an empty roster does not lift the old one", []lease.Record{base, rec(10*sec, 1500*ms)}, nil, c + 1300*ms, "share"},
		{"the smallest FENCE", []lease.Record{base, rec(10*sec, 400*ms, idB, idC)}, vouch(c+2*sec, c+2*sec), c + 2300*ms, "vouches"},
		{"its margin too", []lease.Record{rec(10*sec, 400*ms)}, nil, c + 9900*ms, "ttl"},
		{"a larger FENCE changes nothing", []lease.Record{base, rec(10*sec, 3*sec, idB, idC)}, vouch(c+2*sec, c+2*sec), c + 3300*ms, "vouches"},
		{"the smallest TTL", []lease.Record{base, rec(3*sec, 1500*ms, idB, idC)}, vouch(c+60*sec, c+60*sec), c + 2800*ms, "ttl"},
		{"a smaller figure in an older attempt", []lease.Record{base, rec(4*sec, 900*ms, idB), rec(10*sec, 1500*ms, idC)}, vouch(c+60*sec, c+60*sec), c + 3800*ms, "ttl"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cl := claim{begun: c}
			for _, r := range tt.recs {
				cl.add(r)
			}
			until, by := cl.deadline(func(id lease.ID) (time.Duration, bool) {
				v, ok := tt.vouched[id]
				return v, ok
			}, KillMargin(cl.fence))
			require.Equal(t, tt.want, until)
			require.Equal(t, tt.by, by)
		})
	}
}

func TestClaim_Shortened(t *testing.T) {
	old := lease.Record{TTL: 10 * sec, Fence: 1500 * ms, Roster: []lease.ID{idB, idC}}
	tests := map[string]struct {
		next lease.Record
		want bool
	}{
		"the same":             {old, false},
		"a member less":        {lease.Record{TTL: 10 * sec, Fence: 1500 * ms, Roster: []lease.ID{idC}}, false},
		"nobody any more":      {lease.Record{TTL: 10 * sec, Fence: 1500 * ms}, false},
		"larger figures":       {lease.Record{TTL: 20 * sec, Fence: 3 * sec, Roster: old.Roster}, false},
		"a new member":         {lease.Record{TTL: 10 * sec, Fence: 1500 * ms, Roster: []lease.ID{idB, idC, idD}}, true},
		"another run":          {lease.Record{TTL: 10 * sec, Fence: 1500 * ms, Roster: []lease.ID{{Node: idB.Node, Run: "b2"}}}, true},
		"one swapped":          {lease.Record{TTL: 10 * sec, Fence: 1500 * ms, Roster: []lease.ID{idB, idD}}, true},
		"FENCE one ms smaller": {lease.Record{TTL: 10 * sec, Fence: 1499 * ms, Roster: old.Roster}, true},
		"TTL one ms smaller":   {lease.Record{TTL: 9999 * ms, Fence: 1500 * ms, Roster: old.Roster}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := claim{}
			c.add(old)
			require.Equal(t, tt.want, c.shortened(tt.next))
		})
	}
}
