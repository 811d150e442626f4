package gossip

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/convertfw/floatrelay/lease"
)

func samples() []message {
	return []message{
		{Type: typeBeat, From: id(1), Num: 1<<64 - 1, Body: bytes.Repeat([]byte("r"), lease.MaxBody)},
		{Type: typeVouch, From: id(2), Run: id(1).Run, Num: 7},
		{Type: typeHead, From: id(3), Body: []byte("{}")},
		{Type: typeBye, From: id(3)},
		{Type: typeBriefBeat, From: id(1), Num: 1<<64 - 1, Sum: digestOf([]byte("r"))},
		{Type: typeBriefVouch, From: id(2), Run: id(1).Run, Num: 7},
		{Type: typeWant, From: lease.ID{Node: "no uuid"[:2], Run: "run"}, Run: id(1).Run, Num: 8},
	}
}

func TestMessage_RoundTrip(t *testing.T) {
	for _, m := range samples() {
		b, err := m.encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), MaxMessage)
		got, err := decodeMessage(b)
		require.NoError(t, err)
		require.Equal(t, m, got)
	}
}

func TestMessage_RoundTripOfAnything(t *testing.T) {
	name := rapid.OneOf(rapid.StringMatching(`[0-9a-f-]{1,32}`), rapid.StringMatching(`[0-9a-f]{12}`), rapid.SampledFrom([]string{
		"9b0f3f0e-0000-4000-8000-000000000001", "9B0F3F0E-0000-4000-8000-000000000001", "9b0f3f0e000040008000000000000001", "00ABCDEF0123",
	}))
	rapid.Check(t, func(t *rapid.T) {
		m := message{
			Type: rapid.Byte().Draw(t, "type")%typeLast + 1,
			From: lease.ID{Node: name.Draw(t, "node"), Run: name.Filter(func(s string) bool { return len(s) <= maxRun }).Draw(t, "run")},
		}
		switch m.Type {
		case typeBeat:
			m.Num = rapid.Uint64().Draw(t, "num")
			m.Body = rapid.SliceOfN(rapid.Byte(), 1, lease.MaxBody).Draw(t, "body")
		case typeVouch, typeBriefVouch, typeWant:
			m.Num = rapid.Uint64().Draw(t, "num")
			m.Run = name.Filter(func(s string) bool { return len(s) <= maxRun }).Draw(t, "leader run")
		case typeBriefBeat:
			m.Num, m.Sum = rapid.Uint64().Draw(t, "num"), digestOf(rapid.SliceOf(rapid.Byte()).Draw(t, "body"))
		case typeHead:
			m.Body = rapid.SliceOfN(rapid.Byte(), 1, lease.MaxBody).Draw(t, "body")
		}
		b, err := m.encode()
		require.NoError(t, err)
		got, err := decodeMessage(b)
		require.NoError(t, err)
		require.Equal(t, m, got)
	})
}

// 1,400 bytes is what memberlist may put in a packet; its overhead: message
// type 1, checksum 5, encryption 29, label 2+16.
func TestMessage_LargestFitsAPacket(t *testing.T) {
	require.LessOrEqual(t, MaxMessage+1+5+29+2+len(siteLabel("4711")), 1400)
}

func TestMessage_DecodeRefuses(t *testing.T) {
	beat, err := samples()[0].encode()
	require.NoError(t, err)
	vouch, err := samples()[1].encode()
	require.NoError(t, err)
	brief, err := samples()[4].encode()
	require.NoError(t, err)
	ask, err := samples()[6].encode()
	require.NoError(t, err)
	slash, err := message{Type: typeBye, From: lease.ID{Node: "nXde", Run: "r"}}.encode()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"empty":            {nil, errMalformed},
		"one byte":         {[]byte{1}, errMalformed},
		"later version":    {append([]byte{2}, beat[1:]...), errFuture},
		"later type":       {[]byte{1, typeLast + 1, 9, 9}, errFuture},
		"type zero":        {[]byte{1, 0, 9, 9}, errFuture},
		"no node":          {[]byte{1, typeBye, 0, 1, 'r'}, errMalformed},
		"long node":        {append([]byte{1, typeBye, 200}, make([]byte, 300)...), errMalformed},
		"slash in node":    {bytes.Replace(slash, []byte("X"), []byte("/"), 1), errMalformed},
		"vouch cut short":  {vouch[:len(vouch)-1], errMalformed},
		"beat, no body":    {beat[:len(beat)-lease.MaxBody], errMalformed},
		"body too long":    {append(beat, 'x'), errMalformed},
		"digest too short": {brief[:len(brief)-1], errMalformed},
		"short node cut":   {brief[:10], errMalformed},
		"short run cut":    {brief[:21], errMalformed},
		"want cut short":   {ask[:len(ask)-1], errMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeMessage(c.b)
			require.ErrorIs(t, err, c.want)
		})
	}
	t.Run("a longer vouch of a later build is read", func(t *testing.T) {
		got, err := decodeMessage(append(vouch, 1, 2, 3))
		require.NoError(t, err)
		require.Equal(t, samples()[1], got)
	})
	t.Run("a longer brief beat of a later build is read", func(t *testing.T) {
		got, err := decodeMessage(append(brief, 1, 2, 3))
		require.NoError(t, err)
		require.Equal(t, samples()[4], got)
	})
}

// What goes to and fro four times a second for each member of the roster.
func TestMessage_BriefOnesAreBrief(t *testing.T) {
	for i, most := range map[int]int{4: 50, 5: 41} {
		b, err := samples()[i].encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(b), most)
	}
}

func TestMessage_EncodeRefuses(t *testing.T) {
	for name, m := range map[string]message{
		"unknown type":    {Type: 99, From: id(1)},
		"no sender":       {Type: typeBye},
		"long run":        {Type: typeBye, From: lease.ID{Node: "n", Run: strings.Repeat("r", maxRun+1)}},
		"long body":       {Type: typeHead, From: id(1), Body: make([]byte, lease.MaxBody+1)},
		"vouch to nobody": {Type: typeVouch, From: id(1)},
		"brief to nobody": {Type: typeBriefVouch, From: id(1)},
		"want of nobody":  {Type: typeWant, From: id(1)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.encode()
			require.Error(t, err)
		})
	}
}

func TestMessage_DecodeCopiesTheBody(t *testing.T) {
	b, err := samples()[2].encode()
	require.NoError(t, err)
	m, err := decodeMessage(b)
	require.NoError(t, err)
	clear(b)
	require.Equal(t, []byte("{}"), m.Body)
}

func FuzzGossipMessage(f *testing.F) {
	for _, m := range samples() {
		b, err := m.encode()
		require.NoError(f, err)
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add([]byte{})
	f.Add([]byte{1, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if err != nil {
			require.Equal(t, message{}, m, "no half-filled message")
			return
		}
		again, err := m.encode()
		require.NoError(t, err, "what was decoded can be encoded")
		if !m.brief() {
			require.True(t, bytes.HasPrefix(b, again))
			return
		}
		// A text that could be short is read as well, so only the meaning must
		// come back.
		got, err := decodeMessage(again)
		require.NoError(t, err)
		require.Equal(t, m, got)
	})
}
