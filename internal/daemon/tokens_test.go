package daemon

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/lease"
)

// heard are strangers whose packets cannot be decrypted.
func heard(addrs ...string) (out []gossip.Stranger) {
	for _, a := range addrs {
		out = append(out, gossip.Stranger{Addr: a, Kind: gossip.WrongToken, Count: 1})
	}
	return out
}

// tokensOf is this PC with token "ours", and what it says.
func tokensOf(old string, files ...lease.Member) (*tokens, *[]string) {
	found := &discovery{}
	var nodes []string
	for i := range files {
		files[i].Node, files[i].KMSN, files[i].Port = nodeName(i), "4711", 7946
		nodes = append(nodes, files[i].Node)
	}
	found.took(nodes, files, "4711", time.Now())
	var said []string
	return &tokens{own: "ours", old: old, found: found, say: func(warn bool, text string) {
		said = append(said, fmt.Sprintf("%v %s", warn, text))
	}}, &said
}

func TestCaseA13_TokenThatDiffersIsSaidOnceWithBothFingerprints(t *testing.T) {
	tk, said := tokensOf("", lease.Member{Station: "POS-03", Addrs: []string{"10.0.0.3"}, Token: "theirs"})
	for range 5 {
		tk.look(heard("10.0.0.3"), nil)
	}
	want := "RELAY_TOKEN differs from that of POS-03 at 10.0.0.3 (fingerprint there theirs, here ours)"
	require.Equal(t, []string{"true " + want}, *said)
	require.Equal(t, want, tk.note())
	require.True(t, tk.differs("10.0.0.3"))
	require.False(t, tk.differs("10.0.0.4"))

	tk.look(nil, nil)
	require.Empty(t, tk.note())
	require.Equal(t, "false no PC with another RELAY_TOKEN is heard any more", (*said)[1])
}

func TestCaseA13_APCWithoutAFileIsNamedByItsAddress(t *testing.T) {
	tk, _ := tokensOf("")
	tk.look(heard("10.0.0.9"), nil)
	require.Empty(t, tk.note(), "a change that passes is not told")
	tk.look(heard("10.0.0.9"), nil)
	require.Equal(t, "RELAY_TOKEN differs from that of 10.0.0.9 (fingerprint here ours): compare 'floatrelay token fingerprint' on both", tk.note())
}

// What is said follows what is known: a file read later adds station and
// fingerprint.
func TestCaseA13_AFileReadLaterIsSaidToo(t *testing.T) {
	tk, said := tokensOf("")
	tk.look(heard("10.0.0.3"), nil)
	tk.look(heard("10.0.0.3"), nil)
	f := lease.Member{Node: nodeName(7), KMSN: "4711", Station: "POS-03", Addrs: []string{"10.0.0.3"}, Port: 7946, Token: "theirs"}
	tk.found.took([]string{f.Node}, []lease.Member{f}, "4711", time.Now())
	tk.look(heard("10.0.0.3"), nil)
	require.Len(t, *said, 2)
	require.Contains(t, (*said)[1], "POS-03 at 10.0.0.3 (fingerprint there theirs, here ours)")
}

// A PC that was a member a moment ago has a file that nobody had to read.
func TestCaseA13_TheFileOfAFormerMemberIsRead(t *testing.T) {
	tk, _ := tokensOf("")
	former := gossip.Row{ID: lease.ID{Node: nodeName(3)}, State: gossip.Alive, Addr: netip.MustParseAddrPort("10.0.0.3:7946")}
	require.Empty(t, tk.found.choose([]string{nodeName(3)}, []gossip.Row{former}, time.Now()))
	tk.look(heard("10.0.0.3"), nil)
	require.Equal(t, []string{nodeName(3)}, tk.found.choose([]string{nodeName(3)}, nil, time.Now()))
}

// No false alarm: members, other sites, and PCs in the middle of a rotation.
func TestCaseA13_WhoseTokenIsNotSaidToDiffer(t *testing.T) {
	up := []gossip.Row{{State: gossip.Alive, Addr: netip.MustParseAddrPort("10.0.0.3:7946")}}
	for name, tc := range map[string]struct {
		old  string
		file lease.Member
		kind gossip.StrangerKind
		rows []gossip.Row
	}{
		"a member":                        {rows: up, file: lease.Member{Token: "theirs"}},
		"another site":                    {kind: gossip.OtherSite, file: lease.Member{Token: "theirs"}},
		"a file older than the mistake":   {file: lease.Member{Token: "ours"}},
		"its old token is ours":           {file: lease.Member{Token: "theirs", OldToken: "ours"}},
		"its token is our old one":        {old: "theirs", file: lease.Member{Token: "theirs"}},
		"both change from the same token": {old: "x", file: lease.Member{Token: "theirs", OldToken: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.file.Addrs, tc.file.Station = []string{"10.0.0.3"}, "POS-03"
			tk, said := tokensOf(tc.old, tc.file)
			for range 3 {
				tk.look([]gossip.Stranger{{Addr: "10.0.0.3", Kind: tc.kind}}, tc.rows)
			}
			require.Empty(t, tk.note())
			require.Empty(t, *said)
		})
	}
	t.Run("the old file is read again", func(t *testing.T) {
		tk, _ := tokensOf("", lease.Member{Addrs: []string{"10.0.0.3"}, Token: "ours"})
		require.Empty(t, tk.found.choose([]string{nodeName(0)}, nil, time.Now()))
		tk.look(heard("10.0.0.3"), nil)
		require.Equal(t, []string{nodeName(0)}, tk.found.choose([]string{nodeName(0)}, nil, time.Now()))
	})
}

// The note stays short however many there are; the log names each.
func TestTokens_NoteIsBounded(t *testing.T) {
	tk, said := tokensOf("")
	var addrs []string
	for i := range 20 {
		addrs = append(addrs, fmt.Sprintf("10.0.0.%d", i+10))
	}
	tk.look(heard(addrs...), nil)
	tk.look(heard(addrs...), nil)
	require.Len(t, *said, 20)
	require.Contains(t, tk.note(), "and from that of 17 more PCs")
	require.Equal(t, 3, strings.Count(tk.note(), "RELAY_TOKEN differs"))
}
