package lease_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

func member(n int) lease.Member {
	return lease.Member{
		Node: id(n).Node, Run: id(n).Run, Station: "功-01", Addrs: []string{"192.168.1.10", "10.0.0.1"},
		Port: 7946, KMSN: "4711", Version: "1.0.0", Written: "20260115123000",
		Token: "1234abcd", OldToken: "abcd1234",
	}
}

func TestChain_MembersRoundTrip(t *testing.T) {
	chain, _ := chainOn(t)
	require.NoError(t, chain.WriteMember(t.Context(), shareA, member(2)))
	require.NoError(t, chain.WriteMember(t.Context(), shareA, member(1)))
	require.NoError(t, chain.WriteMember(t.Context(), shareA, member(1)), "again")
	members, remarks, err := chain.ListMembers(t.Context(), shareA)
	require.NoError(t, err)
	require.Empty(t, remarks)
	require.Equal(t, []lease.Member{member(1), member(2)}, members)
}

func TestChain_MembersFolderIsMadeAgain(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, os.Remove(filepath.Join(folder, "relay_leader.d", shareA, "members")))
	members, _, err := chain.ListMembers(t.Context(), shareA)
	require.NoError(t, err)
	require.Empty(t, members)
	require.NoError(t, chain.WriteMember(t.Context(), shareA, member(1)))
	require.ErrorIs(t, chain.WriteMember(t.Context(), shareB, member(1)), lease.ErrNotExist, "no such chain")
}

func TestChain_BrokenMemberFilesAreReportedAndSkipped(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, chain.WriteMember(t.Context(), shareA, member(1)))
	dir := filepath.Join(folder, "relay_leader.d", shareA, "members")
	for name, body := range map[string]string{
		id(2).Node + ".json": "",
		id(3).Node + ".json": `{"node":"` + id(4).Node + `","addrs":["10.0.0.1"]}`,
		id(5).Node + ".json": "\xef\xbb\xbf" + `{"node":"` + id(5).Node + `","addrs":["10.0.0.5"],"port":"7946"}` + "\x00",
		"notes.txt":          "x", lease.TempName(): "x", "a b.json": "{}",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666))
	}
	members, remarks, err := chain.ListMembers(t.Context(), shareA)
	require.NoError(t, err)
	require.Equal(t, []lease.Member{member(1), {Node: id(5).Node, Addrs: []string{"10.0.0.5"}, Port: 7946}}, members)
	require.Len(t, remarks, 2)
	require.ErrorContains(t, remarks[0], "empty")
	require.ErrorContains(t, remarks[1], "it says node "+id(4).Node)
}

func TestParseMember_RefusesWhatIsNotCertain(t *testing.T) {
	for name, body := range map[string]string{
		"no node": `{"addrs":["10.0.0.1"]}`, "no address": `{"node":"x","addrs":[]}`, "addrs missing": `{"node":"x"}`,
		"a name": `{"node":"x","addrs":["pos-01"]}`, "null": `{"node":"x","addrs":[null]}`,
		"port high": `{"node":"x","addrs":["10.0.0.1"],"port":70000}`, "run null": `{"node":"x","addrs":["10.0.0.1"],"run":null}`,
		"twice": `{"node":"x","node":"y","addrs":["10.0.0.1"]}`, "NULs": "\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			m, err := lease.ParseMember([]byte(body))
			require.Error(t, err)
			require.Zero(t, m)
		})
	}
}

func TestChain_ListMembersStopsWhenTheShareIsGone(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, chain.WriteMember(t.Context(), shareA, member(1)))
	cut := lease.NewChain(faulty.New(lease.NewDir(folder), faulty.When(faulty.Cut(), faulty.Kinds(faulty.Read))))
	_, _, err := cut.ListMembers(t.Context(), shareA)
	require.ErrorIs(t, err, lease.ErrUnavailable)
}

// At a large site reading every member's file would be most of what the share
// is asked.
func TestChain_PickMembersReadsNoOthers(t *testing.T) {
	_, folder := chainOn(t)
	counted := faulty.New(lease.NewDir(folder))
	chain := lease.NewChain(counted)
	for n := range 20 {
		require.NoError(t, chain.WriteMember(t.Context(), shareA, member(n+1)))
	}
	before := counted.Calls()
	members, remarks, err := chain.PickMembers(t.Context(), shareA, func(nodes []string) []string {
		require.Len(t, nodes, 20)
		return nodes[3:5]
	})
	require.NoError(t, err)
	require.Empty(t, remarks)
	require.Equal(t, []lease.Member{member(4), member(5)}, members)
	require.Equal(t, 3, counted.Calls()-before, "a listing and two reads")
}

func TestChain_WriteMemberWantsANodeID(t *testing.T) {
	chain, _ := chainOn(t)
	require.ErrorIs(t, chain.WriteMember(t.Context(), shareA, lease.Member{Node: "../x"}), lease.ErrDenied)
}

func FuzzMember(f *testing.F) {
	for _, seed := range []string{
		"", "{}", `{"node":"x","addrs":["10.0.0.1"]}`, "\xef\xbb\xbf" + `{"node":"x","addrs":["10.0.0.1"],"port":"7946"}` + "\x00",
		`{"node":"x","addrs":[null]}`, "{\"node\":\"x\",\"addrs\":[\"10.0.0.1\"],\"station\":\"\xa5\x5c\x5c\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := lease.ParseMember(b)
		if err != nil {
			require.Zero(t, m)
			return
		}
		require.NotEmpty(t, m.Addrs)
	})
}
