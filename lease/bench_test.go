package lease_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/lease"
)

func BenchmarkCodec_Seal(b *testing.B) {
	c, r := codec(b), record(42)
	b.ReportAllocs()
	for b.Loop() {
		_, err := c.Seal(r)
		require.NoError(b, err)
	}
}

func BenchmarkCodec_Open(b *testing.B) {
	c := codec(b)
	body, err := c.Seal(record(42))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if e := c.Open(shareA, 42, body); e.Kind != lease.Valid {
			b.Fatal(e.Cause)
		}
	}
}

func BenchmarkDir_Create(b *testing.B) {
	chain, _ := chainOn(b)
	body, err := codec(b).Seal(record(42))
	require.NoError(b, err)
	rev := uint64(41)
	for b.Loop() {
		rev++
		require.NoError(b, chain.Create(b.Context(), shareA, rev, body))
	}
}

func BenchmarkDir_CreateLost(b *testing.B) {
	chain, _ := chainOn(b)
	for b.Loop() {
		require.ErrorIs(b, chain.Create(b.Context(), shareA, 41, nil), lease.ErrExists)
	}
}

func BenchmarkDir_Read(b *testing.B) {
	chain, _ := chainOn(b)
	for b.Loop() {
		_, err := chain.Read(b.Context(), shareA, 41)
		require.NoError(b, err)
	}
}

// The usual look for the next record, which is not there.
func BenchmarkDir_ReadNext(b *testing.B) {
	chain, _ := chainOn(b)
	for b.Loop() {
		_, err := chain.Read(b.Context(), shareA, 42)
		require.ErrorIs(b, err, lease.ErrNotExist)
	}
}

// A listing with as many records as 80 s of renewals leave.
func BenchmarkDir_List(b *testing.B) {
	chain, _ := chainOn(b)
	for rev := uint64(42); rev < 42+160; rev++ {
		require.NoError(b, chain.Create(b.Context(), shareA, rev, nil))
	}
	for b.Loop() {
		_, err := chain.List(b.Context())
		require.NoError(b, err)
	}
}

func BenchmarkDir_Publish(b *testing.B) {
	chain, _ := chainOn(b)
	v := codec(b).View(record(42), true, 77)
	for b.Loop() {
		require.NoError(b, chain.Publish(b.Context(), v))
	}
}
