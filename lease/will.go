package lease

import (
	"context"
	"errors"
	"fmt"
)

// WillReason is the reason of a release written by the guard.
const WillReason = "daemon-gone"

// willSteps bounds how many records of its own run a last will goes over. A
// daemon that died left one or two behind its last acknowledged one.
const willSteps = 8

// ErrNotOurs says that a last will met a record it may not go over.
var ErrNotOurs = errors.New("the next record is not verifiably this run's")

// Will is the guard's half of rule 7: it writes the last will of a tenure whose
// daemon is gone and whose tree is dead: a release at exactly last.Rev+1, where last is the newest acknowledged
// record. It goes on to the next rev only over records that WillNext allows,
// and over its own that got no body. tip is the highest rev the daemon had told
// of having begun: beyond it the daemon may have gone on without this guard. It returns the rev of the release, also if
// the daemon had released already. ErrNotOurs means somebody else has the lease
// or may have it: nothing is left to do.
func Will(ctx context.Context, chain *Chain, codec *Codec, last Record, tip uint64) (rev uint64, err error) {
	for step := uint64(1); step <= willSteps; step++ {
		rev, proceed, err := willStep(ctx, chain, codec, last, tip, last.Rev+step)
		if err != nil {
			return 0, fmt.Errorf("last will: %w", err)
		}
		if !proceed {
			return rev, nil
		}
	}
	return 0, fmt.Errorf("last will: %w: gave up after %d records", ErrNotOurs, willSteps)
}

func willStep(ctx context.Context, chain *Chain, codec *Codec, last Record, tip, rev uint64) (_ uint64, proceed bool, err error) {
	body, err := codec.Seal(willRecord(last, rev))
	if err != nil {
		return 0, false, err
	}
	err = chain.Create(ctx, last.Share, rev, body)
	switch {
	case err == nil:
		return rev, false, nil
	case errors.Is(err, ErrNoBody):
		return 0, true, nil
	case !errors.Is(err, ErrExists):
		return 0, false, err
	}
	if body, err = chain.Read(ctx, last.Share, rev); err != nil {
		return 0, false, err
	}
	found := codec.Open(last.Share, rev, body)
	if found.Kind == Valid && found.Record.SameTenure(last) && found.Record.State == Released {
		return rev, false, nil
	}
	if !WillNext(last, tip, found) {
		return 0, false, fmt.Errorf("record %d: %w", rev, ErrNotOurs)
	}
	return 0, true, nil
}

func willRecord(last Record, rev uint64) Record {
	r := last
	r.Rev, r.State, r.Reason = rev, Released, WillReason
	r.Successor, r.LeaseUntil = ID{}, ""
	return r
}

// WillNext decides whether a last will may go over a record found in its way:
// only if that is verifiably a held one of this very tenure, begun while the
// daemon still had this guard (at most tip). Anything else may be another
// member's lease, or hide one, or be the record on which the daemon, alive after
// all, has started its relay again under another guard.
func WillNext(last Record, tip uint64, found Entry) (proceed bool) {
	return found.Rev <= tip && found.Kind == Valid && found.Record.SameTenure(last) && found.Record.State == Held
}
