package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
			case err != nil && run == 0:
				return // so does it for a share that cannot be written
			case err != nil:
				tell.Fail("repeat the check; if it stays, use another kind of share", "racing for a new file: %v", err)
				return
			case winners != 1:
				tell.Fail("use another kind of share (a Windows or Samba server): on this one two PCs could both lead",
					"creating a new file is not exclusive: %d of %d won round %d", winners, racers, run+1)
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

// raceOnce lets every share create one name and returns how many were told
// that they did.
func raceOnce(ctx context.Context, shares []lease.Share) (winners int, err error) {
	name := lease.TempName()
	errs := make([]error, len(shares))
	start := make(chan struct{})
	race := func() error {
		var wg sync.WaitGroup
		for i, s := range shares {
			wg.Go(func() {
				<-start
				errs[i] = s.Create(ctx, name, fmt.Appendf(nil, "racer %d", i))
			})
		}
		close(start)
		wg.Wait()
		return nil
	}
	if err := bounded(ctx, race); err != nil {
		return 0, err
	}
	defer func() { _ = bounded(ctx, func() error { return shares[0].Remove(ctx, name) }) }()
	for _, e := range errs {
		switch {
		case e == nil:
			winners++
		case !errors.Is(e, lease.ErrExists):
			err = e
		}
	}
	return winners, err
}
