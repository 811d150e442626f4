package lease_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

const (
	shareA = "0a9f4f0e-53a1-4c7e-9d6e-3f1f5a0c7b11"
	shareB = "0b9f4f0e-53a1-4c7e-9d6e-3f1f5a0c7b11"
)

func id(n int) lease.ID {
	return lease.ID{Node: fmt.Sprintf("%08d-1111-4111-8111-111111111111", n), Run: fmt.Sprintf("%012x", n)}
}

func record(rev uint64) lease.Record {
	return lease.Record{
		Share: shareA, Station: "POS-01", Rev: rev, Epoch: 7, Owner: id(1), State: lease.Held, Reason: "renew",
		IP: "192.168.1.10", Port: 9530, PID: 4242, TTL: 10 * time.Second, Fence: 1500 * time.Millisecond,
		Roster: []lease.ID{id(2)},
	}
}

func codec(t testing.TB) *lease.Codec {
	t.Helper()
	c, err := lease.NewCodec("4711", "secret")
	require.NoError(t, err)
	return c
}

// chainOn returns a chain in a fresh folder, founded at rev 41 on shareA.
func chainOn(t testing.TB) (*lease.Chain, string) {
	t.Helper()
	folder := t.TempDir()
	chain := lease.NewChain(lease.NewDir(folder))
	require.NoError(t, chain.Found(t.Context(), shareA, 41, []byte("genesis")))
	return chain, folder
}

func lock(rev int) string { return fmt.Sprintf("relay_leader.d/%s/%010d.lock", shareA, rev) }

func requireFile(t *testing.T, folder, name, body string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	require.Equal(t, body, string(b))
}

func requireFolder(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.ElementsMatch(t, names, got)
}

func TestChain_Layout(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, chain.Create(t.Context(), shareA, 42, []byte("body")))
	require.NoError(t, chain.WriteMember(t.Context(), shareA, lease.Member{Node: id(1).Node, Addrs: []string{"10.0.0.1"}}))
	requireFile(t, folder, lock(41), "genesis")
	requireFile(t, folder, lock(42), "body")
	requireFolder(t, folder, "relay_leader.d")
	requireFolder(t, folder+"/relay_leader.d/"+shareA, "0000000041.lock", "0000000042.lock", "members")
	requireFolder(t, folder+"/relay_leader.d/"+shareA+"/members", id(1).Node+".json")
}

func TestChain_List(t *testing.T) {
	chain, folder := chainOn(t)
	for _, rev := range []uint64{100, 42, 99} {
		require.NoError(t, chain.Create(t.Context(), shareA, rev, nil))
	}
	for _, name := range []string{"42.lock", "0000000000.lock", "00000000043.lock", "000000004x.lock", "0000000044.LOCK", "notes.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "relay_leader.d", shareA, name), nil, 0o666))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "relay_leader.d", "desktop.ini"), nil, 0o666))
	l, err := chain.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, shareA, l.Share)
	require.Equal(t, []uint64{41, 42, 99, 100}, l.Revs)
	require.Equal(t, uint64(100), l.Head())
	require.Equal(t, []string{shareA}, l.Shares)
	require.Len(t, l.Strange, 7)
	require.Contains(t, l.Strange, "desktop.ini")
}

func TestChain_ListWithoutAChain(t *testing.T) {
	folder := t.TempDir()
	chain := lease.NewChain(lease.NewDir(folder))
	l, err := chain.List(t.Context())
	require.NoError(t, err)
	require.Zero(t, l)
	_, err = lease.NewChain(lease.NewDir(folder + "/none")).List(t.Context())
	require.ErrorIs(t, err, lease.ErrUnavailable)
}

func TestChain_ListFollowsTheLowestShareWithRecords(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, os.CopyFS(filepath.Join(folder, "relay_leader.d", shareB), os.DirFS(filepath.Join(folder, "relay_leader.d", shareA))))
	l, err := chain.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, shareA, l.Share)
	require.Equal(t, []string{shareA, shareB}, l.Shares)

	require.NoError(t, os.Remove(filepath.Join(folder, lock(41))))
	l, err = chain.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, shareB, l.Share)
	require.Equal(t, []string{shareA + " (no records)"}, l.Strange)
}

// backwards lists names in descending order.
type backwards struct{ lease.Share }

func (b backwards) List(ctx context.Context, dir string) ([]string, error) {
	names, err := b.Share.List(ctx, dir)
	slices.Sort(names)
	slices.Reverse(names)
	return names, err
}

func TestChain_ListDoesNotDependOnTheServersOrder(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, chain.Create(t.Context(), shareA, 42, nil))
	require.NoError(t, os.CopyFS(filepath.Join(folder, "relay_leader.d", shareB), os.DirFS(filepath.Join(folder, "relay_leader.d", shareA))))
	l, err := lease.NewChain(backwards{lease.NewDir(folder)}).List(t.Context())
	require.NoError(t, err)
	require.Equal(t, lease.Listing{Share: shareA, Revs: []uint64{41, 42}, Shares: []string{shareA, shareB}}, l)
}

func TestChain_CreateAndRead(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, chain.Create(t.Context(), shareA, 42, []byte("mine")))
	require.ErrorIs(t, chain.Create(t.Context(), shareA, 42, []byte("yours")), lease.ErrExists)
	b, err := chain.Read(t.Context(), shareA, 42)
	require.NoError(t, err)
	require.Equal(t, "mine", string(b))
	_, err = chain.Read(t.Context(), shareA, 43)
	require.ErrorIs(t, err, lease.ErrNotExist)
	require.ErrorIs(t, chain.Create(t.Context(), shareA, lease.MaxRev+1, nil), lease.ErrDenied)
	require.ErrorIs(t, chain.Create(t.Context(), shareA, 0, nil), lease.ErrDenied)

	require.NoError(t, os.RemoveAll(filepath.Join(folder, "relay_leader.d")))
	require.ErrorIs(t, chain.Create(t.Context(), shareA, 43, nil), lease.ErrNotExist, "a wiped chain cannot be continued")
}

func TestChain_DeleteRemovesOnlyWhatItIsTold(t *testing.T) {
	chain, folder := chainOn(t)
	for rev := uint64(42); rev < 46; rev++ {
		require.NoError(t, chain.Create(t.Context(), shareA, rev, nil))
	}
	require.NoError(t, chain.Delete(t.Context(), shareA, []uint64{40, 41, 42}))
	requireFolder(t, folder+"/relay_leader.d/"+shareA, "0000000043.lock", "0000000044.lock", "0000000045.lock", "members")
}

func TestChain_DeleteSweepsOldTemporaryNames(t *testing.T) {
	chain, folder := chainOn(t)
	var age time.Duration
	chain.Age = func() time.Duration { return age }
	leftover := filepath.Join(folder, lease.TempName())
	require.NoError(t, os.MkdirAll(filepath.Join(leftover, shareB, "members"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(leftover, shareB, "0000000001.lock"), nil, 0o666))
	members := filepath.Join(folder, "relay_leader.d", shareA, "members")
	require.NoError(t, os.WriteFile(filepath.Join(members, lease.TempName()), nil, 0o666))
	other := filepath.Join(folder, "kasse.dbf")
	require.NoError(t, os.WriteFile(other, nil, 0o666))

	for _, age = range []time.Duration{0, 5 * time.Minute, 9 * time.Minute} {
		require.NoError(t, chain.Delete(t.Context(), shareA, nil))
		require.DirExists(t, leftover)
	}
	age = 10 * time.Minute
	require.NoError(t, chain.Delete(t.Context(), shareA, nil))
	requireFolder(t, folder, "relay_leader.d", "kasse.dbf")
	requireFolder(t, members)
	requireFile(t, folder, lock(41), "genesis")
}

func TestChain_FoundHasOneWinner(t *testing.T) {
	folder := t.TempDir()
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			share := fmt.Sprintf("%08x-53a1-4c7e-9d6e-3f1f5a0c7b11", i)
			errs[i] = lease.NewChain(lease.NewDir(folder)).Found(t.Context(), share, 1, []byte(share))
		})
	}
	wg.Wait()
	l, err := lease.NewChain(lease.NewDir(folder)).List(t.Context())
	require.NoError(t, err)
	require.Len(t, l.Shares, 1)
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
			require.Equal(t, fmt.Sprintf("%08x-53a1-4c7e-9d6e-3f1f5a0c7b11", i), l.Share)
			continue
		}
		require.ErrorIs(t, err, lease.ErrExists)
	}
	require.Equal(t, 1, won)
	requireFolder(t, folder, "relay_leader.d")
}

func TestChain_FoundReportsOnlyTheMovesOutcome(t *testing.T) {
	for name, tc := range map[string]struct {
		in   faulty.Injector
		want error
		left bool // a chain is there afterwards
	}{
		"no body":            {faulty.NoBody(), lease.ErrUnavailable, false},
		"build ack lost":     {faulty.When(faulty.LostAck(), faulty.Kinds(faulty.Create)), lease.ErrUnavailable, false},
		"temporary taken":    {faulty.When(faulty.Fail(lease.ErrExists), faulty.Kinds(faulty.Mkdir)), lease.ErrUnavailable, false},
		"denied":             {faulty.When(faulty.Fail(lease.ErrDenied), faulty.Kinds(faulty.Mkdir)), lease.ErrDenied, false},
		"move ack lost":      {faulty.When(faulty.LostAck(), faulty.Kinds(faulty.Move)), lease.ErrUnknown, true},
		"move not there yet": {faulty.When(faulty.Cut(), faulty.Kinds(faulty.Move)), lease.ErrUnavailable, false},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			chain := lease.NewChain(faulty.New(lease.NewDir(folder), tc.in))
			err := chain.Found(t.Context(), shareA, 1, []byte("genesis"))
			require.ErrorIs(t, err, tc.want)
			for _, other := range []error{lease.ErrExists, lease.ErrNoBody, lease.ErrUnknown, lease.ErrNotExist} {
				if !errors.Is(tc.want, other) {
					require.NotErrorIs(t, err, other)
				}
			}
			if tc.left {
				requireFile(t, folder, fmt.Sprintf("relay_leader.d/%s/0000000001.lock", shareA), "genesis")
				return
			}
			requireFolder(t, folder)
		})
	}
}

func TestChain_FoundReplacesAFolderWithoutRecords(t *testing.T) {
	for name, inside := range map[string]string{"bare": "", "share only": shareB, "with members": shareB + "/members"} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(folder, "relay_leader.d", inside), 0o777))
			if name == "with members" {
				require.NoError(t, os.WriteFile(filepath.Join(folder, "relay_leader.d", inside, shareB+".json"), nil, 0o666))
			}
			chain := lease.NewChain(lease.NewDir(folder))
			require.NoError(t, chain.Found(t.Context(), shareA, 1, []byte("genesis")))
			l, err := chain.List(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{shareA}, l.Shares)
		})
	}
}

func TestChain_FoundNeverTouchesAChainOrStrangers(t *testing.T) {
	chain, folder := chainOn(t)
	require.NoError(t, chain.WriteMember(t.Context(), shareA, member(1)))
	require.ErrorIs(t, chain.Found(t.Context(), shareB, 1, nil), lease.ErrExists)
	requireFile(t, folder, lock(41), "genesis")
	requireFolder(t, folder+"/relay_leader.d/"+shareA+"/members", id(1).Node+".json")
	requireFolder(t, folder, "relay_leader.d")

	odd := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(odd, "relay_leader.d"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(odd, "relay_leader.d", "notes.txt"), nil, 0o666))
	err := lease.NewChain(lease.NewDir(odd)).Found(t.Context(), shareB, 1, nil)
	require.ErrorIs(t, err, lease.ErrExists)
	require.ErrorContains(t, err, "has no records but cannot be removed")
	requireFolder(t, odd, "relay_leader.d")
}

func TestChain_FoundWantsAUUID(t *testing.T) {
	chain := lease.NewChain(lease.NewDir(t.TempDir()))
	for _, share := range []string{"", "x", "../" + shareA, "0A9F4F0E-53A1-4C7E-9D6E-3F1F5A0C7B11"} {
		require.ErrorIs(t, chain.Found(t.Context(), share, 1, nil), lease.ErrDenied)
	}
}

func TestChain_PublishAndReadView(t *testing.T) {
	chain, folder := chainOn(t)
	_, _, err := chain.ReadView(t.Context())
	require.ErrorIs(t, err, lease.ErrNotExist)
	r := record(42)
	r.KMSN = "4711"
	v := codec(t).View(r, true, 77)
	require.NoError(t, chain.Publish(t.Context(), v))
	got, warnings, err := chain.ReadView(t.Context())
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, v, got)
	requireFolder(t, folder, "relay_leader.d", lease.ViewName)
}
