package daemon

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/lease"
)

// renewals is a leader whose wall clock is off, and a PC that sees its records.
type renewals struct {
	t     *testing.T
	codec *lease.Codec
	owner lease.ID
	clock leaderClock
}

func newRenewals(t *testing.T) *renewals {
	codec, err := lease.NewCodec("4711", "token")
	require.NoError(t, err)
	return &renewals{t: t, codec: codec, owner: lease.ID{Node: "n1", Run: "r1"}}
}

// see shows the PC, whose clock says wall, the record rev of a leader whose
// clock was off by skew when it made the record, late ago.
func (x *renewals) see(rev uint64, wall time.Time, skew, late time.Duration) *localapi.ClockStatus {
	x.t.Helper()
	x.codec.Now = func() time.Time { return wall.Add(skew - late) }
	body, err := x.codec.Seal(lease.Record{
		Share: "6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d", KMSN: "4711", Station: "POS-03", Rev: rev, Epoch: 3, Owner: x.owner,
		State: lease.Held, Reason: "renew", IP: "192.168.1.13", Port: 9530, PID: 4, TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
	})
	require.NoError(x.t, err)
	x.clock.saw(x.codec.Open("6f3a1c52-0b7e-4a55-9a0e-0d8b9f1e2c3d", rev, body), wall)
	return x.clock.status()
}

func near(t *testing.T, got *localapi.ClockStatus, want time.Duration) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, "POS-03", got.Station)
	require.InDelta(t, want.Milliseconds(), got.SkewMS, 1000)
}

// A leader whose clock is 40 minutes off is not disturbed (the machine's tests
// show that), and every other PC says so in its status.
func TestCaseB04_SkewOfTheLeaderIsInStatus(t *testing.T) {
	at := time.Date(2026, 1, 15, 12, 0, 0, 400e6, time.Local)
	for _, skew := range []time.Duration{0, -40 * time.Minute, 40 * time.Minute} {
		x := newRenewals(t)
		require.Nil(t, x.see(7, at, skew, 0), "the first one may be old")
		require.Nil(t, x.see(8, at.Add(3*time.Second), skew, 0), "one look may be late")
		near(t, x.see(9, at.Add(6*time.Second), skew, 0), skew)
		near(t, x.see(9, at.Add(9*time.Second), skew, 0), skew)
		// Some come late, through the share.
		near(t, x.see(10, at.Add(12*time.Second), skew, 4*time.Second), skew)
		near(t, x.see(11, at.Add(15*time.Second), skew, 4*time.Second), skew)
	}
}

// What was missed, another holder or a clock that is set begin anew.
func TestLeaderClock_BeginsAnew(t *testing.T) {
	at := time.Date(2026, 1, 15, 12, 0, 0, 0, time.Local)
	known := func() *renewals {
		x := newRenewals(t)
		for rev := uint64(7); rev < 10; rev++ {
			x.see(rev, at.Add(time.Duration(rev)*time.Second), 0, 0)
		}
		require.NotNil(t, x.clock.status())
		return x
	}
	x := known()
	require.Nil(t, x.see(300, at.Add(time.Hour), 0, time.Hour), "this PC slept")
	x = known()
	x.owner = lease.ID{Node: "n2", Run: "r1"}
	require.Nil(t, x.see(10, at.Add(10*time.Second), 0, 0))
	x = known()
	for rev := uint64(10); rev < 13; rev++ {
		x.see(rev, at.Add(time.Duration(rev)*time.Second), -40*time.Minute, 0)
	}
	near(t, x.clock.status(), -40*time.Minute)
}
