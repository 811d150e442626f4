package lease

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

func TestFloor_Raise(t *testing.T) {
	for name, tc := range map[string]struct {
		floor      Floor
		rev, epoch uint64
	}{
		"higher":            {Floor{"4711", 200, 20}, 200, 20},
		"lower":             {Floor{"4711", 50, 5}, 100, 10},
		"restored backup":   {Floor{"4711", 50, 12}, 100, 12},
		"no rev, as others": {Floor{"4711", 0, 41}, 100, 41},
		"another site":      {Floor{"0815", 200, 20}, 100, 10},
		"rev out of reach":  {Floor{"4711", floorStep + 101, 20}, 100, 10},
		"epoch absurd":      {Floor{"4711", 200, MaxRev}, 100, 10},
		"none":              {Floor{}, 100, 10},
	} {
		t.Run(name, func(t *testing.T) {
			rev, epoch := tc.floor.Raise("4711", 100, 10)
			require.Equal(t, [2]uint64{tc.rev, tc.epoch}, [2]uint64{rev, epoch})
		})
	}
	rev, _ := Floor{KMSN: "4711", Rev: MaxRev/2 + 1}.Raise("4711", MaxRev/2, 1)
	require.Equal(t, uint64(MaxRev/2), rev, "half of the revs are kept in reserve")
}

// agreed is a view as another program writes it, with one field replaced, added
// or, if value is empty, left out.
func agreed(name, value string) string {
	order := []string{"kmsn", "station", "ip", "port", "pid", "epoch", "lease_until", "rev"}
	values := map[string]string{
		"kmsn": `"4711"`, "station": `"POS-01"`, "ip": `"192.168.1.10"`, "port": "9530", "pid": "77",
		"epoch": "7", "lease_until": `"20260115123000"`, "rev": "42",
	}
	if _, known := values[name]; !known && name != "" {
		order = append(order, name)
	}
	values[name] = value
	var parts []string
	for _, n := range order {
		if values[n] != "" {
			parts = append(parts, `"`+n+`":`+values[n])
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

var agreedFloor = Floor{KMSN: "4711", Rev: 42, Epoch: 7}

// requireFloor demands what b tells, and which fields are named as dropped.
func requireFloor(t *testing.T, b string, want Floor, dropped ...string) {
	t.Helper()
	got, said, err := ParseFloor([]byte(b))
	require.NoError(t, err, "%q", b)
	require.Equal(t, want, got, "%q", b)
	require.Len(t, said, len(dropped), "%q: %v", b, said)
	for i, name := range dropped {
		require.Contains(t, said[i], `"`+name+`"`)
	}
}

func requireNoFloor(t *testing.T, b, cause string) {
	t.Helper()
	got, dropped, err := ParseFloor([]byte(b))
	require.ErrorContains(t, err, cause, "%q", b)
	require.Zero(t, got)
	require.Empty(t, dropped)
}

// One odd field costs no other one.
func TestI6_EachFieldOfTheViewForItself(t *testing.T) {
	for _, odd := range [][2]string{
		{"station", "12"}, {"ip", "null"}, {"port", "0"}, {"port", `"0x10"`}, {"pid", "-1"}, {"lease_until", `""`}, {"lease_until", `"20260230120000"`},
		{"state", `"lost"`}, {"ready", `"yes"`}, {"v", "2"}, {"share", "[]"}, {"extra", `1,"extra":2`}, {"extra", `{"epoch":[3,{"Epoch":4}]}`}, {"station", ""},
	} {
		requireFloor(t, agreed(odd[0], odd[1]), agreedFloor)
	}
	for _, odd := range []string{"7.50", "-7", `"7.x"`, `""`, "null", "true", "[7]", "10000000000", "1e300", "99999999999999999999999", `"0x7"`, `"Inf"`} {
		requireFloor(t, agreed("epoch", odd), Floor{KMSN: "4711", Rev: 42}, "epoch")
		requireFloor(t, agreed("rev", odd), Floor{KMSN: "4711", Epoch: 7}, "rev")
	}
	for _, odd := range []string{"4711", "null", `" "`, `"a\nb"`, `"\ud800"`} {
		requireFloor(t, agreed("kmsn", odd), Floor{Rev: 42, Epoch: 7}, "kmsn")
	}
	requireFloor(t, agreed("rev", ""), Floor{KMSN: "4711", Epoch: 7})
	requireFloor(t, agreed("epoch", "41e0"), Floor{KMSN: "4711", Rev: 42, Epoch: 41})
	requireFloor(t, "{}", Floor{})
}

func TestCaseF01_NumbersSentAsText(t *testing.T) {
	requireFloor(t, agreed("epoch", `"7"`), agreedFloor)
	requireFloor(t, agreed("rev", `"        42"`), agreedFloor)
}

func TestCaseF02_NumbersWithDecimals(t *testing.T) {
	requireFloor(t, agreed("epoch", "7.00"), agreedFloor)
	requireFloor(t, agreed("rev", `"42.0"`), agreedFloor)
}

func utf16Text(s string, order binary.ByteOrder) string {
	b := []byte{0, 0}
	order.PutUint16(b, 0xfeff)
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, 0, 0)
		order.PutUint16(b[len(b)-2:], u)
	}
	return string(b)
}

func TestCaseF04_ByteOrderMarksAndUTF16(t *testing.T) {
	requireFloor(t, "\xef\xbb\xbf"+agreed("", ""), agreedFloor)
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		requireFloor(t, utf16Text(agreed("station", `"功😀"`)+"\r\n", order), agreedFloor)
	}
	requireNoFloor(t, "\xff\xfe{", "empty")
	require.False(t, bytes.HasPrefix(View{}.Encode(), []byte("\xef\xbb\xbf")), "we never write one")
}

func TestCaseF05_SomethingBehindTheObject(t *testing.T) {
	v := agreed("", "")
	for _, tail := range []string{"\r\n", "\x00\x00\x00\x00", "\r\n\x1a", "\n\x1a\x00 \x00"} {
		requireFloor(t, v+tail, agreedFloor)
	}
	for _, tail := range []string{"\n34\"}\n", v, ",", "}"} {
		requireNoFloor(t, v+tail, "something follows")
	}
}

func TestCaseF06_NamesAreExactAndOnce(t *testing.T) {
	without := Floor{KMSN: "4711", Rev: 42}
	requireFloor(t, agreed("Epoch", "3"), without, "epoch")
	requireFloor(t, strings.Replace(agreed("", ""), `"epoch"`, `"EPOCH"`, 1), without, "epoch")
	requireFloor(t, strings.Replace(agreed("", ""), `"epoch":7`, `"epoch":7,"epoch":8`, 1), without, "epoch")
	requireFloor(t, strings.Replace(agreed("", ""), `"epoch":7`, `"epoch":7,"\u0065poch":7`, 1), without, "epoch")
}

func TestCaseF10_Big5Bytes(t *testing.T) {
	for _, station := range []string{"\xb3\x5c\x5c", "\xb3\x5c", "\xaf\xb8", "POS\xa5\x5c\x5c-\xaf\xb8", "\x83\x5c\x5c"} {
		requireFloor(t, agreed("station", `"`+station+`"`), agreedFloor)
	}
	want := agreedFloor
	want.KMSN = "站"
	requireFloor(t, agreed("kmsn", "\"\xaf\xb8\""), want)
}

// A file with the right length but only NULs, or with some around the object.
func TestCaseB09_NULsAfterAPowerLoss(t *testing.T) {
	requireNoFloor(t, strings.Repeat("\x00", 180), "only NUL bytes")
	requireNoFloor(t, strings.Repeat("\x00", 32)+agreed("", ""), "not a JSON object")
	requireFloor(t, agreed("", "")+strings.Repeat("\x00", 64), agreedFloor)
	requireNoFloor(t, "", "empty")
}

func TestParseFloor_RefusesWhatIsNoObject(t *testing.T) {
	for _, b := range []string{"null", "[]", `"x"`, "{", `{"a"}`, `{"a":1,}`, `{'a':1}`, strings.Repeat("[", 70_000)} {
		requireNoFloor(t, b, "read relay_leader.json")
	}
}

// Clients on a case-sensitive share may read the wrong one of two.
func TestI6_TwinsInAnotherCaseAreNamed(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(folder+"/RELAY_LEADER.JSON", []byte(agreed("epoch", "3")), 0o666))
	if _, err := os.Stat(folder + "/" + ViewName); err == nil {
		t.Log("NOT SHOWN: two names that differ by case only")
		return
	}
	chain := NewChain(NewDir(folder))
	_, remarks, err := chain.ReadFloor(t.Context())
	require.ErrorIs(t, err, ErrNotExist)
	require.Len(t, remarks, 1)
	require.Contains(t, remarks[0], "RELAY_LEADER.JSON")
	require.NoError(t, os.WriteFile(folder+"/"+ViewName, []byte(agreed("epoch", "null")), 0o666))
	f, remarks, err := chain.ReadFloor(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 42, f.Rev)
	require.Len(t, remarks, 2)
	require.Contains(t, remarks[1], `"epoch"`)
}

func FuzzFloor(f *testing.F) {
	for _, seed := range []string{
		"", "{}", agreed("", ""), agreed("rev", `"9530"`), agreed("epoch", "7.00"), "\xef\xbb\xbf" + agreed("", ""),
		utf16Text(agreed("", ""), binary.LittleEndian), agreed("", "") + "\x00\x00", agreed("", "") + agreed("", ""), agreed("Epoch", "3"),
		agreed("station", "\"\xb3\x5c\x5c\""), agreed("station", "\"\xb3\x5c\""), strings.Repeat("\x00", 180),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		floor, dropped, err := ParseFloor(b)
		if err != nil {
			require.Zero(t, floor)
			require.Empty(t, dropped)
		}
		require.LessOrEqual(t, floor.Epoch, uint64(MaxRev))
		require.LessOrEqual(t, floor.Rev, uint64(MaxRev))
	})
}
