package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrNobody is a race that nobody won although every share answered.
var ErrNobody = errors.New("nobody could create a new name, and nobody had")

// RaceCreate lets every share create one new name at the same moment and
// returns how many were told that they did: one, wherever creating is
// exclusive. More than one, and the folder must not hold a lease: two members
// could both win a record.
//
// The shares must be handles of their own on one folder. With fewer than two
// winners, an error means that the race says nothing. The name is removed
// afterwards; what a crash leaves is found by housekeeping.
func RaceCreate(ctx context.Context, shares []Share) (winners int, err error) {
	name := TempName()
	errs := make([]error, len(shares))
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i, s := range shares {
		wg.Go(func() {
			<-gate
			errs[i] = s.Create(ctx, name, fmt.Appendf(nil, "racer %d", i))
		})
	}
	close(gate)
	wg.Wait()
	for _, e := range errs {
		switch {
		case e == nil:
			winners++
		case !errors.Is(e, ErrExists):
			err = e
		}
	}
	if removed := gone(shares[0].Remove(ctx, name)); err == nil && winners > 0 {
		err = removed
	}
	switch {
	case winners > 1:
		return winners, nil
	case err == nil && winners == 0:
		err = fmt.Errorf("%w: %w: %s", ErrUnavailable, ErrNobody, name)
	}
	return winners, err
}
