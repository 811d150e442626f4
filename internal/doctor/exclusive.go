package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/convertfw/floatrelay/lease"
)

// The race: racers handles create the same new name, at most rounds times and
// for patience. A folder whose create-new is not exclusive usually shows it in
// the first few rounds.
const (
	racers = 4
	rounds = 20
)

func exclusiveCheck(open func() (lease.Share, error)) func(context.Context, Tell) {
	return func(ctx context.Context, tell Tell) {
		shares, err := openAll(open)
		if err != nil {
			return // the share check says what is wrong
		}
		begin, run := time.Now(), 0
		for ; run < rounds && time.Since(begin) < patience; run++ {
			winners, err := raceOnce(ctx, shares)
			switch {
			case winners > 1:
				tell.Fail("use another kind of share (a Windows or Samba server): on this one two PCs could both lead",
					"creating a new file is not exclusive: %d of %d won round %d", winners, racers, run+1)
				return
			case errors.Is(err, lease.ErrNobody):
				tell.Fail("use another kind of share (a Windows or Samba server)", "racing for a new file: %v", err)
				return
			case err != nil && run == 0:
				return // the share check says why it cannot be written
			case err != nil:
				tell.Fail("repeat the check; if it stays, use another kind of share", "racing for a new file: %v", err)
				return
			}
		}
		tell.OK("creating a new file is exclusive: one winner in each of %d races of %d handles", run, racers)
	}
}

func openAll(open func() (lease.Share, error)) ([]lease.Share, error) {
	shares := make([]lease.Share, racers)
	for i := range shares {
		var err error
		if shares[i], err = open(); err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// raceOnce is lease.RaceCreate that can be given up.
func raceOnce(ctx context.Context, shares []lease.Share) (winners int, err error) {
	return boundedValue(ctx, func() (int, error) { return lease.RaceCreate(ctx, shares) })
}
