package lease

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// spoil is one way other programs spoil a JSON file. A record and a member's file
// are never read so: they are ours, and anything else is unknown.
type spoil struct {
	row, name string
	member    string // a member's file
	record    func(good string) string
}

func swap(old, with string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, with, 1) }
}

func memberText(port, more string) string {
	return `{"node":"x","addrs":["10.0.0.1"],"port":` + port + more + `}`
}

var spoils = []spoil{
	{"F01", "number as text", memberText(`"7946"`, ""), swap(`"port":9530`, `"port":"9530"`)},
	{"F02", "number with decimals", memberText("7946.00", ""), swap(`"epoch":7`, `"epoch":7.00`)},
	{"F02", "fraction", memberText("7946.50", ""), swap(`"epoch":7`, `"epoch":7.50`)},
	{"F04", "UTF-8 BOM", "\xef\xbb\xbf" + memberText("7946", ""), func(s string) string { return "\xef\xbb\xbf" + s }},
	{"F04", "UTF-16", utf16Text(memberText("7946", ""), binary.LittleEndian), func(s string) string { return utf16Text(s, binary.LittleEndian) }},
	{"F05", "NUL tail", memberText("7946", "") + "\x00\x00\x00\x00", func(s string) string { return s + "\x00\x00\x00\x00" }},
	{"F05", "DOS end", memberText("7946", "") + "\r\n\x1a", func(s string) string { return s + "\r\n\x1a" }},
	{"F05", "rest of a longer text", memberText("7946", "") + "\n34\"}\n", func(s string) string { return s + "\n34\"}\n" }},
	{"F05", "two objects", memberText("7946", "") + memberText("7946", ""), func(s string) string { return s + s }},
	{"F06", "another case beside it", memberText("7946", `,"Port":3`), swap(`"epoch":7`, `"epoch":7,"Epoch":3`)},
	{"F06", "another case alone", strings.Replace(memberText("7946", ""), "port", "PORT", 1), swap(`"epoch"`, `"EPOCH"`)},
	{"F06", "double", memberText("7946", `,"port":7946`), swap(`"epoch":7`, `"epoch":7,"epoch":8`)},
	{"F09", "time cut short", "", swap(`"20260115123010"`, `"20260115"`)},
	{"F09", "time as a number", "", swap(`"20260115123010"`, `20260115123010`)},
	{"F09", "time of 17 digits", "", swap(`"20260115123010"`, `"20260115123010123"`)},
	{"F09", "no such day", "", swap(`"20260115123010"`, `"20260230123010"`)},
	{"F09", "empty time", "", swap(`"20260115123010"`, `""`)},
	{"F10", "Big5, escaped by Harbour", memberText("7946", ",\"station\":\"\xb3\x5c\x5c\""), swap("POS-01", "\xb3\x5c\x5c")},
	{"F10", "Big5, by hand", memberText("7946", ",\"station\":\"\xb3\x5c\""), swap("POS-01", "\xb3\x5c")},
}

// Every row of the foreign readers' list, done to a record: unknown, with a
// reason, and nothing of it can be used. With the MAC made good again too,
// wherever the spoiled text is still of a record's shape.
func TestCaseF_ARecordIsValidOrUnknown(t *testing.T) {
	c := testCodec(t, "secret")
	good := string(seal(t, c, testRecord(42)))
	require.Equal(t, Valid, c.Open(testShare, 42, []byte(good)).Kind)
	for _, s := range spoils {
		t.Run(s.row+" "+s.name, func(t *testing.T) {
			bad := []byte(s.record(good))
			require.NotEqual(t, good, string(bad))
			bodies := [][]byte{bad}
			if i := bytes.Index(bad, []byte(`,"mac":`)); i > 0 && bad[0] == '{' {
				bodies = append(bodies, resign(c, bad[:i]))
			}
			for _, body := range bodies {
				if string(body) == good {
					continue
				}
				e := c.Open(testShare, 42, body)
				require.Equal(t, Unknown, e.Kind, "%q", body)
				require.NotEmpty(t, e.Cause)
				require.Zero(t, e.Record)
			}
		})
	}
}

// The same done to a member's file: read only as we write it, otherwise nothing
// of it.
func TestCaseF_AMemberFileIsReadWhole(t *testing.T) {
	good, err := ParseMember([]byte(memberText("7946", "")))
	require.NoError(t, err)
	require.Equal(t, 7946, good.Port)
	for _, s := range spoils {
		if s.member == "" {
			continue // the field is not one of a member's
		}
		t.Run(s.row+" "+s.name, func(t *testing.T) {
			m, err := ParseMember([]byte(s.member))
			require.Error(t, err)
			require.Zero(t, m)
		})
	}
}
