package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/lease"
)

// Whether a record is opened or remembered, the arbiter is told the same.
func TestEars_BeatsOfTheSameRecord(t *testing.T) {
	codec, err := lease.NewCodec("4711", newToken)
	require.NoError(t, err)
	seal := func(rev uint64) []byte {
		r := aRecord()
		r.Rev = rev
		body, err := codec.Seal(r)
		require.NoError(t, err)
		return body
	}
	one, two := seal(42), seal(43)
	forged := append([]byte(nil), two...)
	forged[len(forged)-5] ^= 1
	var got []arbiter.Event
	e := &ears{codec: codec, post: func(ev arbiter.Event) { got = append(got, ev) }}
	from := aRecord().Owner
	for num, body := range [][]byte{one, one, two, forged, two, forged, one, append([]byte(nil), one...)} {
		e.Beat(from, uint64(num), body)
	}
	var want []arbiter.Event
	for num, body := range map[int][]byte{0: one, 1: one, 2: two, 4: two, 6: one, 7: one} {
		want = append(want, arbiter.BeatReceived{From: from, Num: uint64(num), Entry: codec.Open("", 0, body)})
	}
	require.ElementsMatch(t, want, got)
	require.Len(t, got, 6, "a forged record is never told, not even between two that verify")
}
