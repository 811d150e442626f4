package daemon

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/gossip"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/internal/words"
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
	return &tokens{own: "ours", old: old, found: found, say: func(warn bool, r reason.Reason, _ ...reason.Reason) {
		said = append(said, fmt.Sprintf("%v %s", warn, words.English.Say(r)))
	}}, &said
}

// noteOf is what is shown beside this PC.
func noteOf(tk *tokens) string { return words.English.All(tk.reasons()) }

func TestCaseA13_TokenThatDiffersIsSaidOnceWithBothFingerprints(t *testing.T) {
	tk, said := tokensOf("", lease.Member{Station: "POS-03", Addrs: []string{"10.0.0.3"}, Token: "theirs"})
	for range 5 {
		tk.look(heard("10.0.0.3"), nil)
	}
	want := "RELAY_TOKEN differs from that of POS-03 at 10.0.0.3 (fingerprint there theirs, here ours)"
	require.Equal(t, []string{"true " + want}, *said)
	require.Equal(t, want, noteOf(tk))
	require.True(t, tk.differs("10.0.0.3"))
	require.False(t, tk.differs("10.0.0.4"))

	tk.look(nil, nil)
	require.Empty(t, noteOf(tk))
	require.Equal(t, "false no PC with another RELAY_TOKEN is heard any more", (*said)[1])
}

func TestCaseA13_APCWithoutAFileIsNamedByItsAddress(t *testing.T) {
	tk, _ := tokensOf("")
	tk.look(heard("10.0.0.9"), nil)
	require.Empty(t, noteOf(tk), "a change that passes is not told")
	tk.look(heard("10.0.0.9"), nil)
	require.Equal(t, "RELAY_TOKEN differs from that of 10.0.0.9 (fingerprint here ours): compare 'floatrelay token fingerprint' on both", noteOf(tk))
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
			require.Empty(t, noteOf(tk))
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
	require.Contains(t, noteOf(tk), " and 17 more PCs: correct")
	require.Contains(t, noteOf(tk), "RELAY_TOKEN (fingerprint here ours) differs from that of 10.0.0.10, 10.0.0.11, 10.0.0.12 (?)")
	require.Less(t, len(noteOf(tk)), 200)
}

// Stations and fingerprints stand there once, and so does the cure.
func TestTokens_NoteOfSeveral(t *testing.T) {
	tk, _ := tokensOf("",
		lease.Member{Station: "POS-01", Addrs: []string{"10.0.0.1"}, Token: "theirs"},
		lease.Member{Station: "POS-02", Addrs: []string{"10.0.0.2"}, Token: "theirs"})
	tk.look(heard("10.0.0.1", "10.0.0.2"), nil)
	tk.look(heard("10.0.0.1", "10.0.0.2"), nil)
	require.Equal(t, "RELAY_TOKEN (fingerprint here ours) differs from that of POS-01, POS-02 (theirs): correct the odd one, restart there", noteOf(tk))
	require.True(t, tk.names("POS-02"))
	require.False(t, tk.names("POS-07"))
}

// The file of a PC that was put right ends the note, though its packets are
// remembered for minutes; so does the newest of several files for its address.
func TestTokens_NoteVanishesWithTheFix(t *testing.T) {
	odd := lease.Member{Station: "POS-03", Addrs: []string{"10.0.0.3"}, Token: "theirs", Written: "20260101000000"}
	tk, said := tokensOf("", odd)
	tk.found.wake = make(chan struct{}, 1)
	tk.look(heard("10.0.0.3"), nil)
	require.Empty(t, tk.found.wake, "its fingerprint is known")
	tk.look(heard("10.0.0.3"), nil)
	require.NotEmpty(t, noteOf(tk))
	again := tk.found.choose([]string{nodeName(0), nodeName(1)}, nil, time.Now())
	require.ElementsMatch(t, []string{nodeName(0), nodeName(1)}, again, "an odd PC's file is read with every look")
	fixed := odd
	fixed.Node, fixed.KMSN, fixed.Port, fixed.Token, fixed.Written = nodeName(1), "4711", 7946, "ours", "20260101000100"
	tk.found.took(again, []lease.Member{fixed}, "4711", time.Now())
	tk.look(heard("10.0.0.3"), nil)
	require.Empty(t, noteOf(tk))
	require.Contains(t, (*said)[len(*said)-1], "no PC with another RELAY_TOKEN")

	tk.look(heard("10.0.0.9"), nil)
	require.Len(t, tk.found.wake, 1, "the files are looked at now")
}
