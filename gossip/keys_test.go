package gossip

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

func TestKeys_DependOnTokenAndSite(t *testing.T) {
	a, err := newKeyPair("secret", "4711")
	require.NoError(t, err)
	again, err := newKeyPair("secret", "4711")
	require.NoError(t, err)
	site, err := newKeyPair("secret", "0815")
	require.NoError(t, err)
	token, err := newKeyPair("other", "4711")
	require.NoError(t, err)
	require.Equal(t, a, again)
	require.Len(t, a.gossip, 32)
	require.NotEqual(t, a.gossip, a.watch)
	require.NotEqual(t, a.gossip, site.gossip)
	require.NotEqual(t, a.gossip, token.gossip)
	require.NotEqual(t, siteLabel("4711"), siteLabel("0815"))
}

func TestKeys_Choose(t *testing.T) {
	k, err := newKeys("new", "old", "4711")
	require.NoError(t, err)
	n, o := k.fresh.print, k.old.print
	require.False(t, k.usesNew(), "starts with the key the others surely have")
	steps := []struct {
		name    string
		members [][]string
		usesNew bool
	}{
		{"alone changes nothing", nil, false},
		{"one of two not restarted", [][]string{{n, o}, {o}}, false},
		{"all restarted", [][]string{{n, o}, {n, o}}, true},
		{"a PC that was off returns", [][]string{{n, o}, {n, o}, {o}}, false},
		{"it is restarted", [][]string{{n, o}, {n, o}, {n, o}}, true},
		{"the old token is removed here and there", [][]string{{n}, {n, o}}, true},
		{"alone keeps it", nil, true},
	}
	for _, s := range steps {
		k.choose(s.members)
		require.Equal(t, s.usesNew, k.usesNew(), s.name)
	}
}

func TestKeys_OneTokenIsNoRotation(t *testing.T) {
	for _, old := range []string{"", "new"} {
		k, err := newKeys("new", old, "4711")
		require.NoError(t, err)
		require.True(t, k.usesNew())
		require.Len(t, k.prints(), 1)
		require.False(t, k.toggle())
		require.False(t, k.choose([][]string{{"x"}}))
	}
}

func rotating(i int, run string, token, old string) Config {
	c := config(i)
	c.Self = lease.ID{Node: id(i).Node, Run: run}
	c.Token, c.OldToken = token, old
	return c
}

// A13: the token is changed by a rolling restart. At every moment every member
// sees every other one that runs.
func TestA13_RollingTokenChangeNeverSplits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		nodes := []*node{
			s.start(rotating(0, "a0", "old", ""), 0, 1, 2, 3),
			s.start(rotating(1, "a1", "old", ""), 1, 0, 2, 3),
			s.start(rotating(2, "a2", "old", ""), 2, 0, 1, 3),
		}
		off := s.start(rotating(3, "a3", "old", ""), 3, 0, 1, 2)
		defer func() { closeAll(append(nodes, off)...) }()
		see(t, 5*time.Second, append(nodes, off)...)
		require.NoError(t, off.Close()) // this PC is off during the change
		see(t, 5*time.Second, nodes...)

		lost := watchForSplits(t, nodes)
		defer lost.stop()
		for _, i := range []int{1, 0, 2} {
			lost.skip(i)
			require.NoError(t, nodes[i].Leave(time.Second))
			require.NoError(t, nodes[i].Close())
			nodes[i] = s.start(rotating(i, "b"+string(rune('0'+i)), "new", "old"), i, 0, 1, 2, 3)
			see(t, 5*time.Second, nodes...)
			lost.resume(i, nodes[i])
			time.Sleep(20 * time.Second)
		}
		for _, n := range nodes {
			require.True(t, n.UsesNewToken(), "all changed over by themselves")
			require.Empty(t, n.Strangers())
		}

		off = s.start(rotating(3, "a3b", "old", ""), 3, 0, 1, 2)
		see(t, 15*time.Second, append(nodes, off)...)
		require.False(t, nodes[0].UsesNewToken(), "back to the old key for its sake")
		time.Sleep(time.Minute)
		see(t, 0, append(nodes, off)...)
		require.NoError(t, off.Close())
		off = s.start(rotating(3, "b3", "new", "old"), 3, 0, 1, 2)
		see(t, 15*time.Second, append(nodes, off)...)
		within(t, 5*time.Second, "new key again", func() bool { return nodes[0].UsesNewToken() && off.UsesNewToken() })

		for i := range nodes { // finally the old token is removed everywhere
			lost.skip(i)
			require.NoError(t, nodes[i].Close())
			nodes[i] = s.start(rotating(i, "c"+string(rune('0'+i)), "new", ""), i, 0, 1, 2, 3)
			see(t, 15*time.Second, append(nodes, off)...)
			lost.resume(i, nodes[i])
		}
	})
}

// A13: a PC that still has both tokens starts where everybody has dropped the
// old one, and one where nobody has the new one yet.
func TestA13_AloneWithTwoTokensFindsTheRightOne(t *testing.T) {
	for _, theirs := range []string{"new", "old"} {
		t.Run(theirs, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStation(t)
				a, b := s.start(rotating(1, "a", theirs, ""), 0), s.start(rotating(2, "b", theirs, ""), 1, 0)
				see(t, 5*time.Second, a, b)
				c := s.start(rotating(3, "c", "new", "old"), 2, 0)
				defer closeAll(a, b, c)
				see(t, 5*time.Second, a, b, c)
				require.Equal(t, theirs == "new", c.UsesNewToken())
			})
		})
	}
}

// A13: a PC with another token reports it, and so do the others; nobody else is
// disturbed.
func TestA13_WrongTokenIsReportedOnBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		odd := config(3)
		odd.Token = "typo"
		a, b, c := s.start(config(1), 0), s.start(config(2), 1, 0), s.start(odd, 2, 0, 1)
		defer closeAll(a, b, c)
		see(t, 5*time.Second, a, b)
		time.Sleep(30 * time.Second)
		require.Empty(t, c.IDs())
		see(t, 0, a, b)
		require.Len(t, a.Strangers(), 1)
		require.Equal(t, "10.0.0.3", a.Strangers()[0].Addr)
		require.Equal(t, WrongToken, a.Strangers()[0].Kind)
		require.Len(t, c.Strangers(), 2, "it learns it from each it tried")
		require.Equal(t, WrongToken, c.Strangers()[0].Kind)
		require.NotEqual(t, a.TokenID(), c.TokenID())
	})
}

// A15: one token, two sites, and a PC moved with its remembered addresses.
func TestA15_AnotherSiteNeverMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		site := func(i int, kmsn string) Config { c := config(i); c.KMSN = kmsn; return c }
		a1, a2 := s.start(site(1, "A"), 0, 1), s.start(site(2, "A"), 1, 0)
		b1 := s.start(site(3, "B"), 2)
		moved := site(4, "B")
		moved.Remembered = a1.Members()
		b2 := s.start(moved, 3, 2)
		defer closeAll(a1, a2, b1, b2)
		see(t, 5*time.Second, a1, a2)
		see(t, 5*time.Second, b1, b2)
		time.Sleep(2 * time.Minute)
		see(t, 0, a1, a2)
		see(t, 0, b1, b2)
		require.Len(t, b2.Members(), 2, "the foreign peer is dropped from the table")
		require.Equal(t, OtherSite, b2.Strangers()[0].Kind)
		require.Equal(t, OtherSite, a1.Strangers()[0].Kind)
		require.Less(t, a1.Strangers()[0].Count, uint64(20), "and not asked for ever")
	})
}
