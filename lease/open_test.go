package lease

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodec_OpenSaysWhy(t *testing.T) {
	c := testCodec(t, "secret")
	good := seal(t, c, testRecord(42))
	other := testCodec(t, "other")
	foreign, err := NewCodec("0815", "secret")
	require.NoError(t, err)
	alien := testRecord(42)
	alien.KMSN = "0815"
	edit := func(old, with string) []byte {
		out := bytes.Replace(good, []byte(old), []byte(with), 1)
		require.NotEqual(t, good, out)
		return out
	}
	cut := len(good) - macTail
	signEdit := func(old, with string) []byte { return resign(c, edit(old, with)[:cut+len(with)-len(old)]) }

	for name, tc := range map[string]struct {
		body  []byte
		kind  Kind
		cause string
	}{
		"good":               {good, Valid, ""},
		"missing body":       {nil, Unknown, "empty"},
		"NULs":               {make([]byte, 180), Unknown, "only NUL bytes, as after a power loss"},
		"NUL tail":           {append(bytes.Clone(good), make([]byte, 64)...), Unknown, "byte 0x00 does not belong in a record"},
		"NUL head":           {append(make([]byte, 32), good...), Unknown, "it does not begin like a record"},
		"wrong token":        {seal(t, other, testRecord(42)), Unknown, "wrong MAC"},
		"one figure changed": {edit(`"port":9530`, `"port":9531`), Unknown, "wrong MAC"},
		"other site":         {seal(t, foreign, alien), Foreign, "KMSN is 0815, ours is 4711"},
		"newer version":      {signEdit(`"v":1`, `"v":2`), Newer, "version 2, this build reads 1"},
		"newer, other shape": {c.Sign([]byte(`{"v":7,"rev":{"chain":7}`)), Newer, "version 7, this build reads 1"},
		"newer, unsigned":    {edit(`"v":1`, `"v":2`), Unknown, "version 2, this build reads 1, and not signed with our RELAY_TOKEN"},
		"newer, no MAC":      {[]byte(`{"v":2}`), Unknown, "version 2, this build reads 1, and not signed with our RELAY_TOKEN"},
		"newer, other token": {other.Sign([]byte(`{"v":2,"rev":42`)), Unknown, "version 2, this build reads 1, and not signed with our RELAY_TOKEN"},
		"newer, other site":  {foreign.Sign([]byte(`{"v":2,"rev":42`)), Unknown, "version 2, this build reads 1, and not signed with our RELAY_TOKEN"},
		"version 0":          {edit(`"v":1`, `"v":0`), Unknown, `field "v" is 0, outside 1 to 65536`},
		"rev of another":     {seal(t, c, testRecord(41)), Unknown, "it says rev 41, found as 42"},
		"torn":               {good[:300], Unknown, `broken JSON in field "pid": EOF`},
		"cut by one byte":    {good[:len(good)-1], Unknown, "it does not end in a MAC"},
		"one byte more":      {append(bytes.Clone(good), '\n'), Unknown, "it does not end in a MAC"},
		"two records":        {append(bytes.Clone(good), good...), Unknown, "1070 bytes, a record has at most 1000"},
		"trailing garbage":   {append(bytes.Clone(good), '}'), Unknown, "something follows the record"},
		"double field":       {signEdit(`"rev":42`, `"rev":42,"rev":43`), Unknown, `field "rev" comes twice`},
		"case variant":       {signEdit(`"rev":42`, `"rev":42,"Rev":43`), Unknown, `field "Rev" is not spelled "rev"`},
		"missing field":      {signEdit(`"pid":4242,`, ``), Unknown, `field "pid" is missing`},
		"null":               {signEdit(`"pid":4242`, `"pid":null`), Unknown, `field "pid" is null`},
		"number as text":     {signEdit(`"pid":4242`, `"pid":"4242"`), Unknown, `field "pid" is not a plain whole number`},
		"fraction":           {signEdit(`"pid":4242`, `"pid":4242.0`), Unknown, `field "pid" is not a plain whole number`},
		"huge":               {signEdit(`"ttl_ms":10000`, `"ttl_ms":20001`), Unknown, `field "ttl_ms" is 20001, outside 1 to 20000`},
		"null in roster":     {signEdit(`"roster":[`, `"roster":[null,`), Unknown, `field "roster" contains null`},
		"new field, signed":  {signEdit(`"pid":4242`, `"pid":4242,"extra":{"a":[1]}`), Valid, ""},
		"array":              {[]byte(`[]`), Unknown, "it does not begin like a record"},
		"cp950 bytes":        {edit("POS-01", "\xa5\x5c\x5c"), Unknown, "byte 0xa5 does not belong in a record"},
	} {
		t.Run(name, func(t *testing.T) {
			e := c.Open(testShare, 42, tc.body)
			require.Equal(t, tc.kind.String(), e.Kind.String(), e.Cause)
			require.Equal(t, tc.cause, e.Cause)
			require.Equal(t, uint64(42), e.Rev)
			require.Equal(t, tc.body, e.Body)
		})
	}
}

func TestCodec_OpenComparesTheShare(t *testing.T) {
	c := testCodec(t, "secret")
	e := c.Open("11111111-1111-4111-8111-111111111111", 42, seal(t, c, testRecord(42)))
	require.Equal(t, Unknown, e.Kind)
	require.Contains(t, e.Cause, "belongs to share "+testShare)
}

func TestCodec_OpenTakesShareAndRevFromABeat(t *testing.T) {
	c := testCodec(t, "secret")
	e := c.Open("", 0, seal(t, c, testRecord(42)))
	require.Equal(t, Valid, e.Kind)
	require.Equal(t, uint64(42), e.Rev)
	require.Equal(t, testShare, e.Record.Share)
}

func TestCodec_TokenRotation(t *testing.T) {
	before := testCodec(t, "old")
	rolled := testCodec(t, "new", "", "old")
	after := testCodec(t, "new")
	oldBody, newBody := seal(t, before, testRecord(1)), seal(t, rolled, testRecord(2))
	require.Equal(t, Valid, rolled.Open("", 0, oldBody).Kind, "old tokens verify")
	require.Equal(t, Valid, after.Open("", 0, newBody).Kind, "the current token seals")
	require.Equal(t, Unknown, before.Open("", 0, newBody).Kind)
	require.Equal(t, Unknown, after.Open("", 0, oldBody).Kind)
}

func TestCodec_KeysOfTwoSitesDiffer(t *testing.T) {
	a, err := NewCodec("4711", "secret")
	require.NoError(t, err)
	b, err := NewCodec("0815", "secret")
	require.NoError(t, err)
	require.NotEqual(t, a.keys[0], b.keys[0])
}

// Every single changed byte must be noticed: a record is valid or unknown,
// nothing between.
func TestCodec_EveryFlippedByteIsNoticed(t *testing.T) {
	c := testCodec(t, "secret")
	good := seal(t, c, testRecord(42))
	for i := range good {
		for _, flip := range []byte{1, 2, 0x20, 0x80} {
			bad := bytes.Clone(good)
			bad[i] ^= flip
			require.NotEqual(t, Valid, c.Open("", 0, bad).Kind, "byte %d ^ %#x", i, flip)
		}
	}
}

func FuzzRecord(f *testing.F) {
	c := testCodec(f, "secret")
	good := seal(f, c, testRecord(42))
	for _, seed := range []string{
		"", "{}", "null", string(good), string(good[:200]), strings.Repeat("\x00", 180),
		strings.Repeat("\x00", 32) + string(good), string(good) + strings.Repeat("\x00", 64),
		`{"port":"9530","epoch":"7"}`, `{"epoch":7.00}`, "\xef\xbb\xbf{}", `{"epoch":7}{"epoch":3}`,
		`{"epoch":7,"Epoch":3}`, `{"v":2}`, `{"v":99999999999999999999}`, "{\"station\":\"\xb3\x5c\x5c\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e := c.Open("", 0, body)
		if (e.Kind == Valid) != (e.Cause == "") {
			t.Fatalf("kind %v with cause %q", e.Kind, e.Cause)
		}
		if e.Kind != Valid {
			require.Zero(t, e.Record)
		}
		checkSigned(t, c, body)
	})
}

// checkSigned signs whatever the fuzzer made, so that the strict reading behind
// the MAC is reached too: what it accepts can be sealed again unchanged.
func checkSigned(t *testing.T, c *Codec, body []byte) {
	prefix, _, ok := signed(body)
	if !ok {
		prefix = bytes.TrimRight(body, "}\n")
	}
	e := c.Open("", 0, resign(c, prefix))
	if e.Kind != Valid {
		return
	}
	require.True(t, json.Valid(e.Body))
	again, err := c.Seal(e.Record)
	require.NoError(t, err)
	require.Equal(t, e.Record, c.Open("", 0, again).Record)
}
