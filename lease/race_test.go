package lease_test

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/convertfw/floatrelay/internal/testkit/faulty"
	"github.com/convertfw/floatrelay/lease"
)

func TestRaceOne_OneWinnerPerRoundAndNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	var won [2]string
	race := lease.NewRace()
	require.Regexp(t, "^[0-9a-f]{32}$", race)
	var wg sync.WaitGroup
	for i := range won {
		wg.Go(func() { won[i], _ = lease.RaceOne(t.Context(), lease.NewDir(dir), race) })
	}
	wg.Wait()
	both, none, rounds := lease.JudgeRace(won[0], won[1])
	require.Zero(t, both, won)
	require.Zero(t, none, won)
	require.Equal(t, lease.RaceRounds, rounds)
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, lease.RaceRounds)
	for _, n := range names {
		require.True(t, strings.HasPrefix(n.Name(), lease.TempPrefix), "housekeeping finds what a crash leaves")
	}
	require.NoError(t, lease.RaceEnd(t.Context(), lease.NewDir(dir), race))
	require.NoError(t, lease.RaceEnd(t.Context(), lease.NewDir(dir), race), "from the other side as well")
	names, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, names)
}

// Two folders that should be one: each PC wins on its own copy.
func TestRaceOne_TwoCopiesAreSeen(t *testing.T) {
	race := lease.NewRace()
	a, err := lease.RaceOne(t.Context(), lease.NewDir(t.TempDir()), race)
	require.NoError(t, err)
	b, err := lease.RaceOne(t.Context(), lease.NewDir(t.TempDir()), race)
	require.NoError(t, err)
	both, _, rounds := lease.JudgeRace(a, b)
	require.Equal(t, lease.RaceRounds, both)
	require.Equal(t, lease.RaceRounds, rounds)
}

func TestRaceOne_WhatIsNotKnownIsNotJudged(t *testing.T) {
	share := faulty.New(lease.NewDir(t.TempDir()), faulty.When(faulty.Fail(lease.ErrUnknown), faulty.Kinds(faulty.Create)))
	won, err := lease.RaceOne(t.Context(), share, lease.NewRace())
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("?", lease.RaceRounds), won)
	both, none, rounds := lease.JudgeRace(won, strings.Repeat("1", lease.RaceRounds))
	require.Zero(t, both+none+rounds)
}

func TestRaceOne_EndsWithADenialOrTheContext(t *testing.T) {
	share := faulty.New(lease.NewDir(t.TempDir()), faulty.When(faulty.Fail(lease.ErrDenied), faulty.Kinds(faulty.Create)))
	_, err := lease.RaceOne(t.Context(), share, lease.NewRace())
	require.ErrorIs(t, err, lease.ErrDenied)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = lease.RaceOne(ctx, lease.NewDir(t.TempDir()), lease.NewRace())
	require.Error(t, err)
}

func TestJudgeRace(t *testing.T) {
	both, none, rounds := lease.JudgeRace("1100?", "10101")
	require.Equal(t, []int{1, 1, 4}, []int{both, none, rounds})
	both, none, rounds = lease.JudgeRace("1", "")
	require.Zero(t, both+none+rounds)
}
