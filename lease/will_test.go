package lease_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

// put creates a record as a daemon would have.
func put(t *testing.T, chain *lease.Chain, r lease.Record) {
	t.Helper()
	body, err := codec(t).Seal(r)
	require.NoError(t, err)
	require.NoError(t, chain.Create(t.Context(), shareA, r.Rev, body))
}

func requireRelease(t *testing.T, chain *lease.Chain, rev uint64, reason string) {
	t.Helper()
	body, err := chain.Read(t.Context(), shareA, rev)
	require.NoError(t, err)
	e := codec(t).Open(shareA, rev, body)
	require.Equal(t, lease.Valid, e.Kind, e.Cause)
	require.Equal(t, lease.Released, e.Record.State)
	require.Equal(t, reason, e.Record.Reason)
	require.True(t, e.Record.SameTenure(record(42)))
}

func TestWill_CreatesExactlyTheNextRecord(t *testing.T) {
	chain, _ := chainOn(t)
	put(t, chain, record(42))
	rev, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
	require.NoError(t, err)
	require.Equal(t, uint64(43), rev)
	requireRelease(t, chain, 43, lease.WillReason)
}

// The daemon died with records under way: the will goes over its own.
func TestWill_GoesOverItsOwnRunsRecords(t *testing.T) {
	chain, _ := chainOn(t)
	for rev := uint64(42); rev <= 44; rev++ {
		put(t, chain, record(rev))
	}
	rev, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
	require.NoError(t, err)
	require.Equal(t, uint64(45), rev)
	requireRelease(t, chain, 45, lease.WillReason)
}

func TestWill_IsDoneIfTheDaemonReleased(t *testing.T) {
	chain, _ := chainOn(t)
	put(t, chain, record(43))
	r := record(44)
	r.State, r.Reason = lease.Released, "handoff"
	put(t, chain, r)
	for range 2 {
		rev, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
		require.NoError(t, err)
		require.Equal(t, uint64(44), rev)
	}
	_, err := chain.Read(t.Context(), shareA, 45)
	require.ErrorIs(t, err, lease.ErrNotExist)
}

// strangers are bodies a last will must not go over.
func strangers(t *testing.T) map[string][]byte {
	seal := func(change func(*lease.Record)) []byte {
		r := record(43)
		change(&r)
		b, err := codec(t).Seal(r)
		require.NoError(t, err)
		return b
	}
	alien, err := lease.NewCodec("4711", "other token")
	require.NoError(t, err)
	forged, err := alien.Seal(record(43))
	require.NoError(t, err)
	return map[string][]byte{
		"another node":         seal(func(r *lease.Record) { r.Owner = id(2) }),
		"another run":          seal(func(r *lease.Record) { r.Owner.Run = id(2).Run }),
		"another tenure":       seal(func(r *lease.Record) { r.Epoch++ }),
		"another rev":          seal(func(r *lease.Record) { r.Rev = 42 }),
		"another's release":    seal(func(r *lease.Record) { r.Owner, r.State = id(2), lease.Released }),
		"not signed with ours": forged,
		"empty":                nil,
		"damaged":              seal(func(*lease.Record) {})[:200],
	}
}

func TestWill_StopsAtWhatIsNotItsOwn(t *testing.T) {
	for name, body := range strangers(t) {
		t.Run(name, func(t *testing.T) {
			chain, _ := chainOn(t)
			require.NoError(t, chain.Create(t.Context(), shareA, 43, body))
			_, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
			require.ErrorIs(t, err, lease.ErrNotOurs)
			_, err = chain.Read(t.Context(), shareA, 44)
			require.ErrorIs(t, err, lease.ErrNotExist, "nothing is created beyond it")
		})
	}
}

func TestWillNext(t *testing.T) {
	open := func(body []byte) lease.Entry { return codec(t).Open(shareA, 43, body) }
	own, err := codec(t).Seal(record(43))
	require.NoError(t, err)
	require.True(t, lease.WillNext(record(42), 43, open(own)))
	require.False(t, lease.WillNext(record(42), 42, open(own)), "begun after the daemon gave this guard up")
	released := record(43)
	released.State = lease.Released
	own, err = codec(t).Seal(released)
	require.NoError(t, err)
	require.False(t, lease.WillNext(record(42), 43, open(own)), "a release ends it")
	for name, body := range strangers(t) {
		require.False(t, lease.WillNext(record(42), 43, open(body)), name)
	}
	for _, kind := range []lease.Kind{lease.Unread, lease.Unknown, lease.Foreign, lease.Newer} {
		require.False(t, lease.WillNext(record(42), 43, lease.Entry{Rev: 43, Kind: kind, Record: record(43)}), kind.String())
	}
}

func TestWill_GoesOnWhenItsOwnRecordGotNoBody(t *testing.T) {
	_, folder := chainOn(t)
	chain := lease.NewChain(faulty.New(lease.NewDir(folder),
		faulty.When(faulty.NoBody(), faulty.Kinds(faulty.Create), faulty.First(1))))
	rev, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
	require.NoError(t, err)
	require.Equal(t, uint64(44), rev)
	requireRelease(t, chain, 44, lease.WillReason)
}

func TestWill_CanBeTriedAgainAfterALostAnswer(t *testing.T) {
	_, folder := chainOn(t)
	chain := lease.NewChain(faulty.New(lease.NewDir(folder),
		faulty.When(faulty.LostAck(), faulty.Kinds(faulty.Create), faulty.First(1))))
	_, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
	require.ErrorIs(t, err, lease.ErrUnknown)
	rev, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
	require.NoError(t, err)
	require.Equal(t, uint64(43), rev, "the first try had been carried out")
}

func TestWill_IsBounded(t *testing.T) {
	chain, _ := chainOn(t)
	for rev := uint64(43); rev < 60; rev++ {
		put(t, chain, record(rev))
	}
	_, err := lease.Will(t.Context(), chain, codec(t), record(42), 99)
	require.ErrorIs(t, err, lease.ErrNotOurs)
}
