package lease

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// agreed is a view as another program writes it, with one field replaced.
func agreed(name, value string) string {
	order := []string{"kmsn", "station", "ip", "port", "pid", "epoch", "lease_until"}
	values := map[string]string{
		"kmsn": `"4711"`, "station": `"POS-01"`, "ip": `"192.168.1.10"`, "port": "9530", "pid": "77",
		"epoch": "7", "lease_until": `"20260115123000"`,
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

var agreedView = View{
	KMSN: "4711", Station: "POS-01", IP: "192.168.1.10", Port: 9530, PID: 77, Epoch: 7, LeaseUntil: "20260115123000",
}

// requireView checks that b is read as want, with or without a warning.
func requireView(t *testing.T, b string, want View, warned bool) {
	t.Helper()
	got, warnings, err := ParseView([]byte(b))
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, warned, len(warnings) > 0, "%v", warnings)
}

// requireNoView checks that b is refused and leaves nothing behind.
func requireNoView(t *testing.T, b, cause string) {
	t.Helper()
	got, warnings, err := ParseView([]byte(b))
	require.ErrorContains(t, err, cause)
	require.Zero(t, got)
	require.Empty(t, warnings)
}

func TestView_EncodeIsWhatEveryReaderKnows(t *testing.T) {
	c := testCodec(t, "secret")
	r := testRecord(42)
	r.Station, r.LeaseUntil = "功<&>", ""
	b := c.View(r, true, 77).Encode()
	require.Equal(t, `{"kmsn":"4711","station":"\u529f<&>","ip":"192.168.1.10","port":9530,"pid":77,"epoch":7,`+
		`"lease_until":"20260115123010","rev":42,"share":"`+testShare+`","node":"00000001-1111-4111-8111-111111111111",`+
		`"run":"000000000001","state":"held","ready":true,"v":1}`+"\n", string(b))
	requireView(t, string(b), c.View(r, true, 77), false)
}

func TestView_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := agreedView
		v.Station = rapid.StringMatching(`[ -~功站😀]{0,20}`).Draw(t, "station")
		v.Port = rapid.IntRange(1, 65535).Draw(t, "port")
		v.PID = rapid.IntRange(0, maxPID).Draw(t, "pid")
		v.Epoch = rapid.Uint64Range(0, MaxRev).Draw(t, "epoch")
		v.Rev = rapid.Uint64Range(0, MaxRev).Draw(t, "rev")
		v.State = rapid.SampledFrom([]State{Held, Released}).Draw(t, "state")
		v.Ready = rapid.Bool().Draw(t, "ready")
		v.Share, v.Owner, v.V = testShare, testID(3), 1
		got, warnings, err := ParseView(v.Encode())
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Equal(t, v, got)
	})
}

func TestCaseF01_NumbersSentAsText(t *testing.T) {
	requireView(t, agreed("port", `"9530"`), agreedView, false)
	requireView(t, agreed("epoch", `"7"`), agreedView, false)
	requireView(t, agreed("pid", `"        77"`), agreedView, false)
	for _, bad := range []string{`"95x0"`, `""`, `"-9530"`, `"0x10"`, `"9 530"`, `true`, `[9530]`, `{}`} {
		requireNoView(t, agreed("port", bad), `field "port" is not a whole number`)
	}
	requireNoView(t, agreed("kmsn", "4711"), `field "kmsn" is not a text`)
}

func TestCaseF02_NumbersWithDecimals(t *testing.T) {
	requireView(t, agreed("epoch", "7.00"), agreedView, false)
	requireView(t, agreed("port", "9530.0"), agreedView, false)
	requireView(t, agreed("pid", `"77.000"`), agreedView, false)
	for _, bad := range []string{"7.50", "7e0", "-7", `"7."`, `".0"`, `"7.0.0"`} {
		requireNoView(t, agreed("epoch", bad), `field "epoch" is not a whole number`)
	}
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
	requireView(t, "\xef\xbb\xbf"+agreed("", ""), agreedView, true)
	want := agreedView
	want.Station = "功😀"
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		requireView(t, utf16Text(agreed("station", `"功😀"`)+"\r\n", order), want, true)
	}
	requireNoView(t, "\xff\xfe{", "half a character")
	requireNoView(t, "\xff\xfe\x00\xd8{\x00", "broken UTF-16")
	requireNoView(t, "\xef\xbb\xbf", "not JSON")
	require.False(t, bytes.HasPrefix(agreedView.Encode(), []byte("\xef\xbb\xbf")), "we never write one")
}

func TestCaseF05_SomethingBehindTheObject(t *testing.T) {
	v := agreed("", "")
	requireView(t, v+"\r\n", agreedView, false)
	for name, tail := range map[string]string{"NULs": "\x00\x00\x00\x00", "DOS end": "\r\n\x1a", "both": "\n\x1a\x00 \x00"} {
		t.Run(name, func(t *testing.T) { requireView(t, v+tail, agreedView, true) })
	}
	for name, tail := range map[string]string{"longer text": "\n34\"}\n", "second object": v, "comma": ",", "brace": "}"} {
		t.Run(name, func(t *testing.T) { requireNoView(t, v+tail, "something follows") })
	}
}

func TestCaseF06_NamesAreExactAndOnce(t *testing.T) {
	requireNoView(t, agreed("Epoch", "3"), `field "Epoch" is not spelled "epoch"`)
	requireNoView(t, strings.Replace(agreed("", ""), `"epoch"`, `"EPOCH"`, 1), `field "EPOCH" is not spelled "epoch"`)
	requireNoView(t, strings.Replace(agreed("", ""), `"epoch":7`, `"epoch":7,"epoch":8`, 1), `field "epoch" comes twice`)
	requireNoView(t, strings.Replace(agreed("", ""), `"epoch":7`, `"epoch":7,"\u0065poch":7`, 1), `field "epoch" comes twice`)
	requireNoView(t, agreed("extra", `1,"extra":2`), `field "extra" comes twice`)
	requireView(t, agreed("extra", `{"epoch":[3,{"Epoch":4}]}`), agreedView, false)
}

func TestCaseF09_ShapesOfLeaseUntil(t *testing.T) {
	for name, shape := range map[string]string{
		"text": `"20260115123000"`, "number": "20260115123000", "17 digits": `"20260115123000123"`,
		"17 digits, number": "20260115123000123", "decimals": "20260115123000.00",
	} {
		t.Run(name, func(t *testing.T) { requireView(t, agreed("lease_until", shape), agreedView, false) })
	}
	for _, shape := range []string{
		`"20260115"`, "20260115", `"2026-01-15T12:30:00"`, `"20260230120000"`, `"20260115240000"`, `""`,
		`" 20260115123000"`, `"00010101000000"`, `"19991231235959"`, `"202601151230001"`, `"2026011512300012x"`, "20260115123000.5",
	} {
		requireNoView(t, agreed("lease_until", shape), `field "lease_until"`)
	}
	far := agreedView
	far.LeaseUntil = "20991231235959"
	requireView(t, agreed("lease_until", `"20991231235959"`), far, false)
}

func TestCaseF10_Big5Bytes(t *testing.T) {
	want := agreedView
	for name, tc := range map[string]struct{ bytes, station string }{
		"escaped by Harbour": {"\xb3\x5c\x5c", "許"},
		"typed by hand":      {"\xb3\x5c", "許"},
		"no backslash":       {"\xaf\xb8", "站"},
		"both in a name":     {"POS\xa5\x5c\x5c-\xaf\xb8", "POS功-站"},
		"ETen only":          {"\xf9\xd8", "裏"},
	} {
		t.Run(name, func(t *testing.T) {
			want.Station = tc.station
			requireView(t, agreed("station", `"`+tc.bytes+`"`), want, true)
		})
	}
	for name, tc := range map[string]struct{ bytes, cause string }{
		"no such character": {"\x83\x5c\x5c", "neither UTF-8 nor cp950"},
		"lone lead byte":    {"\xb3", "neither UTF-8 nor cp950"},
		"two readings":      {"\xb3\x5c\x5c\\u529f", "can be read in two ways"},
		"private escapes":   {"\xaf\xb8\\uF7B3", "private characters"},
	} {
		t.Run(name, func(t *testing.T) { requireNoView(t, agreed("station", `"`+tc.bytes+`"`), tc.cause) })
	}
}

// A file with the right length but only NULs, or with some around the object.
func TestCaseB09_NULsAfterAPowerLoss(t *testing.T) {
	requireNoView(t, strings.Repeat("\x00", 180), "only NUL bytes")
	requireNoView(t, strings.Repeat("\x00", 32)+agreed("", ""), "not JSON")
	requireView(t, agreed("", "")+strings.Repeat("\x00", 64), agreedView, true)
	requireNoView(t, "", "empty")
}

func TestParseView_RefusesWhatIsNotCertain(t *testing.T) {
	for _, name := range []string{"kmsn", "station", "ip", "port", "pid", "epoch", "lease_until"} {
		t.Run(name+" missing", func(t *testing.T) { requireNoView(t, agreed(name, ""), `field "`+name+`" is missing`) })
		t.Run(name+" null", func(t *testing.T) { requireNoView(t, agreed(name, "null"), `field "`+name+`" is null`) })
	}
	for name, tc := range map[string]struct{ field, value string }{
		"port 0": {"port", "0"}, "port high": {"port", "65536"}, "epoch high": {"epoch", "10000000000"},
		"epoch huge": {"epoch", "99999999999999999999999"}, "pid high": {"pid", "4294967296"},
		"ip empty": {"ip", `""`}, "ip name": {"ip", `"pos-01"`}, "ip zero": {"ip", `"0.0.0.0"`},
		"ip v6": {"ip", `"::1"`}, "ip padded": {"ip", `"192.168.001.010"`}, "kmsn empty": {"kmsn", `" "`},
		"station broken": {"station", `"\ud800"`}, "station control": {"station", `"a\nb"`},
		"rev null": {"rev", "null"}, "rev high": {"rev", "10000000000"}, "state odd": {"state", `"lost"`},
		"ready as text": {"ready", `"yes"`}, "ready null": {"ready", "null"}, "share long": {"share", `"` + strings.Repeat("x", 37) + `"`},
	} {
		t.Run(name, func(t *testing.T) { requireNoView(t, agreed(tc.field, tc.value), `field "`+tc.field+`"`) })
	}
	for _, b := range []string{"{}", "null", "[]", `"x"`, "{", `{"a"}`, `{"a":1,}`, `{'a':1}`, strings.Repeat("[", 70_000)} {
		requireNoView(t, b, "read relay_leader.json")
	}
}

func TestParseView_OtherOrderAndLayout(t *testing.T) {
	requireView(t, "\r\n {\n\t\"epoch\" : 7 , \"lease_until\":\"20260115123000\",\"pid\":77,\"port\":9530,\n"+
		"\"ip\":\"192.168.1.10\",\"station\":\"POS-01\",\"kmsn\":\"4711\" }", agreedView, false)
}

func TestParseView_WarnsOfANewerWriter(t *testing.T) {
	want := agreedView
	want.V = 2
	requireView(t, agreed("v", "2"), want, true)
}

func FuzzView(f *testing.F) {
	for _, seed := range []string{
		"", "{}", agreed("", ""), string(agreedView.Encode()), agreed("port", `"9530"`), agreed("epoch", "7.00"),
		"\xef\xbb\xbf" + agreed("", ""), utf16Text(agreed("", ""), binary.LittleEndian), utf16Text(agreed("", ""), binary.BigEndian),
		agreed("", "") + "\x00\x00", agreed("", "") + "\r\n\x1a", agreed("", "") + agreed("", ""), agreed("Epoch", "3"),
		agreed("lease_until", "20260115123000123"), agreed("station", "\"\xb3\x5c\x5c\""), agreed("station", "\"\xb3\x5c\""),
		strings.Repeat("\x00", 180), strings.Repeat("\x00", 32) + agreed("", ""),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, rest, err := scanObject(b, viewFields); err == nil {
			require.True(t, json.Valid(b[:len(b)-len(rest)]))
		}
		v, warnings, err := ParseView(b)
		if err != nil {
			require.Zero(t, v)
			require.Empty(t, warnings)
			return
		}
		again, _, err := ParseView(v.Encode())
		require.NoError(t, err, "%+v", v)
		require.Equal(t, v, again)
		require.Positive(t, v.Port)
		require.True(t, goodUntil(v.LeaseUntil))
	})
}
