package lease

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const testShare = "0b9f4f0e-53a1-4c7e-9d6e-3f1f5a0c7b11"

func testNow() time.Time { return time.Date(2026, 1, 15, 12, 30, 0, 0, time.Local) }

func testCodec(t testing.TB, token string, old ...string) *Codec {
	t.Helper()
	c, err := NewCodec("4711", token, old...)
	require.NoError(t, err)
	c.Now = testNow
	return c
}

func testID(n int) ID {
	return ID{Node: fmt.Sprintf("%08d-1111-4111-8111-111111111111", n), Run: fmt.Sprintf("%012x", n)}
}

func testRecord(rev uint64) Record {
	return Record{
		Share: testShare, KMSN: "4711", Station: "POS-01", Rev: rev, Epoch: 7, Owner: testID(1),
		Boot: "00112233445566778899aabbccddeeff", State: Held, Reason: "renew",
		IP: "192.168.1.10", Port: 9530, PID: 4242, TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
		Roster: []ID{testID(2), testID(3)}, LeaseUntil: "20260115123010",
	}
}

func seal(t testing.TB, c *Codec, r Record) []byte {
	t.Helper()
	body, err := c.Seal(r)
	require.NoError(t, err)
	return body
}

func TestNewCodec_RefusesEmptySecrets(t *testing.T) {
	_, err := NewCodec("4711", "")
	require.ErrorContains(t, err, "RELAY_TOKEN is empty")
	_, err = NewCodec("", "secret")
	require.ErrorContains(t, err, "KMSN is empty")
	_, err = NewCodec("站站站站站站", "secret")
	require.ErrorContains(t, err, "36 bytes")
}

func TestCodec_SealIsOneAsciiLineThatEndsInTheMAC(t *testing.T) {
	r := testRecord(42)
	r.Station = `功"<&>\😀`
	body := seal(t, testCodec(t, "secret"), r)
	require.True(t, bytes.HasPrefix(body, []byte(`{"v":1,"share":"`+testShare+`","kmsn":"4711","station":"\u529f\"<&>\\\ud83d\ude00","rev":42,`)))
	require.Equal(t, 1, bytes.Count(body, []byte("\n")))
	require.Regexp(t, `,"mac":"[A-Za-z0-9_-]{43}"}\n$`, string(body))
	for _, ch := range body {
		require.Less(t, ch, byte(0x7f))
	}
	require.Equal(t, r, testCodec(t, "secret").Open(testShare, 42, body).Record)
}

func TestCodec_SealStampsLeaseUntil(t *testing.T) {
	c := testCodec(t, "secret")
	r := testRecord(1)
	r.LeaseUntil = ""
	require.Equal(t, "20260115123010", c.Open("", 0, seal(t, c, r)).Record.LeaseUntil)
	r.State = Released
	require.Equal(t, "20260115123000", c.Open("", 0, seal(t, c, r)).Record.LeaseUntil)
}

func TestCodec_SealRoundsWaitsUp(t *testing.T) {
	c := testCodec(t, "secret")
	r := testRecord(1)
	r.TTL, r.Fence = 10*time.Second-1, 350*time.Millisecond+1
	got := c.Open("", 0, seal(t, c, r)).Record
	require.Equal(t, 10*time.Second, got.TTL)
	require.Equal(t, 351*time.Millisecond, got.Fence)
}

// biggestRecord has every field at its bound.
func biggestRecord(kmsn string) Record {
	r := testRecord(MaxRev)
	r.KMSN, r.Epoch = kmsn, MaxRev
	r.Station = "1234" + strings.Repeat("站", 10)
	r.State, r.Reason, r.Successor = Released, strings.Repeat("r", MaxReason), testID(9)
	r.IP, r.Port, r.PID, r.TTL, r.Fence = "192.168.100.200", 65534, maxPID, TTLMax, TTLMax
	r.Roster = nil
	for n := range RosterMax {
		r.Roster = append(r.Roster, testID(n))
	}
	return r
}

func TestCodec_WorstCaseFits(t *testing.T) {
	kmsn := "12" + strings.Repeat("站", 5)
	require.Equal(t, MaxKMSN, EscapedLen(kmsn))
	c, err := NewCodec(kmsn, "secret")
	require.NoError(t, err)
	r := biggestRecord(kmsn)
	require.Equal(t, MaxStation, EscapedLen(r.Station))
	body := seal(t, c, r)
	require.LessOrEqual(t, len(body), MaxBody)
	require.Len(t, body, 989, "the budget of a record has changed")
	require.Equal(t, r, c.Open("", 0, body).Record)
}

func TestCodec_SealCutsALongReason(t *testing.T) {
	c := testCodec(t, "secret")
	r := testRecord(1)
	r.Reason = "because 功功功功功功功 of it all and more"
	require.Equal(t, "because 功功功功", c.Open("", 0, seal(t, c, r)).Record.Reason)
}

// recordSpoilers each push one value out of the format's bounds.
var recordSpoilers = map[string]func(*Record){
	"foreign kmsn":    func(r *Record) { r.KMSN = "0815" },
	"no station":      func(r *Record) { r.Station = "" },
	"long station":    func(r *Record) { r.Station = strings.Repeat("x", 65) },
	"broken station":  func(r *Record) { r.Station = "\xa5" },
	"no share":        func(r *Record) { r.Share = "" },
	"share is a path": func(r *Record) { r.Share = "../x" },
	"rev 0":           func(r *Record) { r.Rev = 0 },
	"rev too high":    func(r *Record) { r.Rev = MaxRev + 1 },
	"epoch too high":  func(r *Record) { r.Epoch = MaxRev + 1 },
	"no node":         func(r *Record) { r.Owner.Node = "" },
	"no run":          func(r *Record) { r.Owner.Run = "" },
	"long boot":       func(r *Record) { r.Boot = strings.Repeat("b", 33) },
	"odd state":       func(r *Record) { r.State = "lost" },
	"half successor":  func(r *Record) { r.Successor = ID{Node: "n"} },
	"no ip":           func(r *Record) { r.IP = "" },
	"ip unspecified":  func(r *Record) { r.IP = "0.0.0.0" },
	"ipv6":            func(r *Record) { r.IP = "fe80::1" },
	"port 0":          func(r *Record) { r.Port = 0 },
	"port 65535":      func(r *Record) { r.Port = 65535 },
	"negative pid":    func(r *Record) { r.PID = -1 },
	"ttl above max":   func(r *Record) { r.TTL = TTLMax + time.Millisecond },
	"ttl 0":           func(r *Record) { r.TTL = 0 },
	"fence above ttl": func(r *Record) { r.Fence = r.TTL + time.Millisecond },
	"fence 0":         func(r *Record) { r.Fence = 0 },
	"lease_until":     func(r *Record) { r.LeaseUntil = "20260230120000" },
	"roster of 8":     func(r *Record) { r.Roster = append(biggestRecord("4711").Roster, testID(70)) },
	"roster twice":    func(r *Record) { r.Roster = []ID{testID(2), testID(2)} },
	"roster half":     func(r *Record) { r.Roster = []ID{{Node: "n"}} },
}

func TestCodec_SealRefusesWhatOpenWould(t *testing.T) {
	c := testCodec(t, "secret")
	for name, spoil := range recordSpoilers {
		t.Run(name, func(t *testing.T) {
			r := testRecord(5)
			spoil(&r)
			body, err := c.Seal(r)
			require.Error(t, err)
			require.Nil(t, body)
		})
	}
}

// forge signs a record without any check, as a faulty writer with the right
// token would.
func forge(c *Codec, r Record) []byte { return resign(c, appendRecord(nil, r)) }

func resign(c *Codec, prefix []byte) []byte {
	return c.Sign(bytes.Clone(prefix))
}

func TestCodec_OpenRefusesSignedNonsense(t *testing.T) {
	c := testCodec(t, "secret")
	require.Equal(t, Valid, c.Open(testShare, 5, forge(c, testRecord(5))).Kind, "the forge works")
	for name, spoil := range recordSpoilers {
		t.Run(name, func(t *testing.T) {
			r := testRecord(5)
			spoil(&r)
			e := c.Open("", 0, forge(c, r))
			require.NotEqual(t, Valid, e.Kind)
			require.NotEmpty(t, e.Cause)
			require.Zero(t, e.Record)
		})
	}
}

func TestCodec_RoundTrip(t *testing.T) {
	c := testCodec(t, "secret")
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.Custom(func(t *rapid.T) ID {
			return ID{
				Node: rapid.StringMatching(`[0-9a-f-]{1,36}`).Draw(t, "node"),
				Run:  rapid.StringMatching(`[0-9a-f]{12}`).Draw(t, "run"),
			}
		})
		ttl := rapid.IntRange(1, 20_000).Draw(t, "ttl")
		r := Record{
			Share: testShare, KMSN: "4711",
			Station:   rapid.StringMatching(`[A-Za-z0-9 "\\<站功]{1,10}`).Draw(t, "station"),
			Rev:       rapid.Uint64Range(1, MaxRev).Draw(t, "rev"),
			Epoch:     rapid.Uint64Range(0, MaxRev).Draw(t, "epoch"),
			Owner:     id.Draw(t, "owner"),
			State:     rapid.SampledFrom([]State{Held, Released}).Draw(t, "state"),
			Reason:    rapid.StringMatching(`[a-z -]{0,32}`).Draw(t, "reason"),
			IP:        "10.0.0.1",
			Port:      rapid.IntRange(1, maxPort).Draw(t, "port"),
			PID:       rapid.IntRange(0, maxPID).Draw(t, "pid"),
			TTL:       time.Duration(ttl) * time.Millisecond,
			Fence:     time.Duration(rapid.IntRange(1, ttl).Draw(t, "fence")) * time.Millisecond,
			Roster:    rapid.SliceOfNDistinct(id, 0, RosterMax, rapid.ID).Draw(t, "roster"),
			Successor: rapid.OneOf(id, rapid.Just(ID{})).Draw(t, "successor"),
		}
		body, err := c.Seal(r)
		require.NoError(t, err)
		e := c.Open(testShare, r.Rev, body)
		require.Equal(t, Valid, e.Kind, e.Cause)
		r.LeaseUntil = e.Record.LeaseUntil
		if len(r.Roster) == 0 {
			r.Roster = nil
		}
		require.Equal(t, r, e.Record)
	})
}

// A PC with a dead battery wakes in 1970 or 1980, another one's clock was set to
// nonsense. Both write records that every version can read.
func TestHole8_AnyWallClockWritesRecords(t *testing.T) {
	c := testCodec(t, "secret")
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("west", -12*3600), time.FixedZone("east", 14*3600)} {
		for _, year := range []int{1, 1601, 1969, 1970, 1979, 1980, 1999, 2000, 2024, 2038, 2099, 2100, 9999, 30000} {
			for _, at := range []time.Time{time.Date(year, 1, 1, 0, 0, 0, 0, zone), time.Date(year, 12, 31, 23, 59, 59, 0, zone)} {
				c.Now = func() time.Time { return at }
				r := testRecord(42)
				r.LeaseUntil = ""
				e := c.Open(testShare, 42, seal(t, c, r))
				require.Equal(t, Valid, e.Kind, "%v: %s", at, e.Cause)
				require.True(t, goodUntil(e.Record.LeaseUntil), "%v: %s", at, e.Record.LeaseUntil)
				_, _, err := ParseView(c.View(r, true, 1).Encode())
				require.NoError(t, err, at)
			}
		}
	}
}
