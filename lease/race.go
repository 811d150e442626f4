package lease

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
)

// RaceRounds is how many names one race between two PCs is for.
const RaceRounds = 16

// NewRace returns a fresh name for a race: 32 hex digits.
func NewRace() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func raceFile(race string, round int) string {
	return fmt.Sprintf("%s%s-%02d", TempPrefix, race, round)
}

// RaceOne is one PC's part in a race: it creates the names of the race, one
// after the other, as fast as the share lets it. The result has one character
// per round: '1' won, '0' lost, '?' the share did not say. The PC behind loses,
// which is quicker than winning, and so catches up: from the second round or so
// on both create at the same moment.
//
// The names stay until RaceEnd, for the other side may be slower. An error
// means that the share does not let this PC take part.
func RaceOne(ctx context.Context, s Share, race string) (won string, err error) {
	for round := range RaceRounds {
		err := s.Create(ctx, raceFile(race, round), []byte("race"))
		switch {
		case err == nil, errors.Is(err, ErrNoBody):
			won += "1"
		case errors.Is(err, ErrExists):
			won += "0"
		case errors.Is(err, ErrDenied), errors.Is(err, ErrUnavailable), ctx.Err() != nil:
			return won, fmt.Errorf("race for a new file: %w", err)
		default:
			won += "?"
		}
	}
	return won, nil
}

// RaceEnd removes the names of a race, from either side. What is left after a
// crash is found by housekeeping.
func RaceEnd(ctx context.Context, s Share, race string) error {
	var errs []error
	for round := range RaceRounds {
		errs = append(errs, gone(s.Remove(ctx, raceFile(race, round))))
	}
	return errors.Join(errs...)
}

// JudgeRace compares the results of two sides: in how many rounds both won, in
// how many nobody did, and how many can be judged at all.
func JudgeRace(ours, theirs string) (both, none, rounds int) {
	for i := range min(len(ours), len(theirs)) {
		a, b := ours[i], theirs[i]
		if a == '?' || b == '?' {
			continue
		}
		rounds++
		switch {
		case a == '1' && b == '1':
			both++
		case a == '0' && b == '0':
			none++
		}
	}
	return both, none, rounds
}
