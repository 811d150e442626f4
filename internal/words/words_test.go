package words

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/reason"
)

var update = flag.Bool("update", false, "rewrite the golden texts")

// sample is a reason with every fact, so that no text has a gap.
func sample(code reason.Code) reason.Reason {
	r := reason.Reason{
		Code: code, Rev: 1312, Epoch: 7, Count: 3, Of: 60, Port: 9530, PID: 4242,
		Station: "POS-02", Addr: "192.168.1.12:7946", Own: "POS-01", OwnAddr: "192.168.1.11", Share: "45a935d1", OwnShare: "6f3a1c52",
		Found: "0815", Want: "4711", Role: "ineligible", How: "relay-failed", ForMS: 61_500,
		At: "2026-01-02T15:04:05+08:00", Next: "2026-01-02T15:04:20+08:00", Path: "relay_leader.d/x/0000001312.lock", Detail: "exit code 3",
	}
	switch code {
	case reason.RoleChanged:
		r.Found = "leader"
	case reason.TookLease:
		r.How = "fence"
	case reason.RelayEnded:
		r.How = "exited"
	case reason.RenewalFails, reason.SweepFails:
		r.How = "denied"
	}
	return r
}

// Every code has a text in both languages, a cure in both or in none, names the
// same facts in both, and nothing but its table has codes.
func TestTables_AreWhole(t *testing.T) {
	codes := reason.Codes()
	require.Len(t, english, len(codes))
	require.Len(t, chinese, len(codes))
	for _, code := range codes {
		en, zh := english[code], chinese[code]
		require.NotEmpty(t, en.text, code)
		require.NotEmpty(t, zh.text, code)
		require.Equal(t, en.cure == "", zh.cure == "", "%s: a cure in one language only", code)
		require.ElementsMatch(t, names(en.text), names(zh.text), code)
		require.ElementsMatch(t, names(en.cure), names(zh.cure), code)
		for _, name := range names(en.text + en.cure) {
			require.NotEmpty(t, English.fact(name, sample(code), reason.Of(reason.Drained)), "%s: no fact is called %s", code, name)
		}
		if code != reason.Note && code != reason.ShareProbe && code != reason.PortReserved && code != reason.ShareReadOnly {
			require.NotEqual(t, en.text, zh.text, code)
		}
	}
}

func TestGolden_EveryCodeInBothLanguages(t *testing.T) {
	for _, l := range []Lang{English, Chinese} {
		var b strings.Builder
		for _, code := range reason.Codes() {
			r := sample(code)
			fmt.Fprintf(&b, "%s: %s\n", code, l.Say(r, reason.Reason{Code: reason.Drained}))
			if cure := l.Cure(r); cure != "" {
				fmt.Fprintf(&b, "  -> %s\n", cure)
			}
			if bare := l.Say(reason.Reason{Code: code, ForMS: r.ForMS}); code != reason.Note {
				require.NotContains(t, bare, "[", code)
			}
		}
		file := "testdata/" + l.String() + ".txt"
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), b.String(), "go test ./internal/words -update, and read the difference")
	}
}

// What is not known is left out, together with the words around it.
func TestSay_LeavesOutWhatIsMissing(t *testing.T) {
	failing := reason.Reason{Code: reason.RelayFailing, Count: 4}
	require.Equal(t, "the relay failed 4 times in a row", English.Say(failing))
	failing.Detail, failing.At = "exit code 3", "2026-01-02T00:00:07Z"
	require.Equal(t, "the relay failed 4 times in a row, last at 00:00:07 (exit code 3)", English.Say(failing))
	failing.Next = "2026-01-02T00:00:11Z"
	require.Equal(t, "the relay failed 4 times in a row, last at 00:00:07 (exit code 3); next try at 00:00:11", English.Say(failing))
	require.Equal(t, "role client", English.Say(reason.Reason{Code: reason.RoleIs, Role: "client"}))
	require.Equal(t, "角色：從屬（"+chinese[reason.Drained].text+"）", Chinese.Say(reason.Reason{Code: reason.RoleIs, Role: "client"}, reason.Reason{Code: reason.Drained}))
}

// What stands in a fact is never taken for a part of the text.
func TestSay_FactsAreLiteral(t *testing.T) {
	const odd = "a [b] {station} ]{"
	require.Equal(t, "port 9530 is held by "+odd, English.Say(reason.Reason{Code: reason.PortHeld, Port: 9530, Detail: odd}))
}

// A newer member's code is shown, with its facts; a note of the first release as
// it is.
func TestSay_OtherVersions(t *testing.T) {
	for _, l := range []Lang{English, Chinese} {
		require.Equal(t, "moon-phase station=POS-09 detail=full", l.Say(reason.Reason{Code: "moon-phase", Station: "POS-09", Detail: "full"}))
		require.Equal(t, "drained by hand", l.All([]reason.Reason{reason.Text("drained by hand")}))
		require.Empty(t, l.Cure(reason.Reason{Code: "moon-phase"}))
	}
}

func TestSay_LastSeen(t *testing.T) {
	const s, m, h = 1000, 60_000, 3_600_000
	for ms, want := range map[int64]string{
		-s: "last seen 0s ago", 59 * s: "last seen 59s ago", m: "last seen 1m ago", 2*h + m: "last seen 2h ago",
		47 * h: "last seen 47h ago", 49 * h: "last seen 2d ago", 365 * 24 * h: "last seen 365d ago",
	} {
		require.Equal(t, want, English.Say(reason.Reason{Code: reason.LastSeen, ForMS: ms}))
	}
	require.Equal(t, "2 小時前還在線上", Chinese.Say(reason.Reason{Code: reason.LastSeen, ForMS: 2 * h}))
}

func TestCures_EachOnce(t *testing.T) {
	require.Equal(t, "see 'floatrelay config --check'",
		English.Cures(reason.Of(reason.RecordUnwritable, reason.Drained, reason.GenesisRefused)))
}

func TestChoose(t *testing.T) {
	for tag, want := range map[string]Lang{
		"zh_TW.UTF-8": Chinese, "zh-TW": Chinese, "zh-Hant-TW": Chinese, "zh_HK": Chinese, "zh_TW@stroke": Chinese,
		"zh_CN.UTF-8": English, "zh-Hans-CN": English, "C": English, "": English, "en_US.UTF-8": English,
	} {
		require.Equal(t, want, ofTag(tag), tag)
	}
	taiwan := func(name string) string { return map[string]string{"LANG": "zh_TW.UTF-8"}[name] }
	require.Equal(t, English, Choose("en", taiwan))
	require.Equal(t, Chinese, Choose("ZH-tw", func(string) string { return "" }))
}

func TestCodes_AreStable(t *testing.T) {
	seen := map[reason.Code]bool{}
	for _, c := range reason.Codes() {
		require.False(t, seen[c], c)
		require.Regexp(t, `^[a-z][a-z-]*[a-z]$`, string(c))
		seen[c] = true
	}
}
