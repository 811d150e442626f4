package daemon

import (
	"context"
	"errors"
	"io"
	"regexp"
	"sync"
	"time"

	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/lease"
)

// Before this member may lead, racers handles create the same new name at once,
// raceRounds times. A folder whose create-new is not exclusive, as behind some
// FUSE mounts, shows it in most races.
const (
	racers     = 4
	raceRounds = 8
	// shareLost is how long a share must not have answered before it is taken
	// for one that might come back as something else.
	shareLost = lease.TTLMax
	raceEvery = time.Second
	// raceMost keeps the way back short: a share that was read-only for a day is
	// found writable, and led on, within seconds.
	raceMost = 10 * time.Second
)

// exclusive keeps this member from leading until creating has been seen to be
// exclusive, and for good on a share where it was seen not to be.
type exclusive struct {
	open func() (lease.Share, error)
	set  func(why ...reason.Reason) // the reason not to lead, or none

	passed bool
	id     string // share id of the last verdict
	broken bool   // two won on it
	down   bool   // the share has been silent since
	fails  int    // races in a row that came to nothing
}

// raceHung is how long a first look at the share may take until it is called one
// that does not answer.
const raceHung = 10 * time.Second

// sayHung replaces the reason of before the first look while the share does not answer, until the function
// that it returns is called: what hangs there cannot be interrupted.
func (x *exclusive) sayHung() (answered func()) {
	if x.passed || x.broken {
		return func() {}
	}
	var mu sync.Mutex
	done := false
	t := time.AfterFunc(raceHung, func() {
		mu.Lock()
		defer mu.Unlock()
		if !done {
			x.set(reason.Reason{Code: reason.ShareSilent})
		}
	})
	return func() {
		t.Stop()
		mu.Lock()
		defer mu.Unlock()
		done = true
	}
}

// watchExclusive races at the start, when the share is another one, and when
// it was gone for a while. What blocks here blocks nothing else.
func (d *Daemon) watchExclusive(ctx context.Context) {
	x := exclusive{
		open: func() (lease.Share, error) { return OpenShare(d.cfg.LeaseDir, string(d.cfg.SMBPassword)) },
		set:  func(why ...reason.Reason) { d.notes.set("share", why...) },
	}
	x.watch(ctx, func() (id string, silent bool) {
		s := d.driver.Status()
		return s.Share, s.ShareOK != 0 && d.opt.now()-s.ShareOK > shareLost
	})
}

// watch races whenever it is due, for as long as ctx lasts.
func (x *exclusive) watch(ctx context.Context, look func() (id string, silent bool)) {
	for {
		if id, silent := look(); x.due(id, silent) {
			x.check(ctx, id)
		}
		if !sleep(ctx, x.pause()) {
			return
		}
	}
}

// due reports whether to race now. A share without a chain yet has no id.
func (x *exclusive) due(id string, silent bool) bool {
	switch {
	case silent:
		x.down = true
		return false
	case !x.passed && !x.broken, x.down:
		return true
	case x.id == "": // the chain was founded on the share checked before
		x.id = id
	}
	return id != "" && id != x.id
}

// check races and says what came of it. A race that says nothing is repeated
// by the caller; a pass never undoes an earlier failure on the same share.
func (x *exclusive) check(ctx context.Context, id string) {
	answered := x.sayHung()
	winners, err := x.race(ctx)
	answered()
	switch {
	case winners > 1:
		x.passed, x.broken = false, true
		x.set(reason.Reason{Code: reason.NotExclusive, Count: winners, Of: racers})
	case err != nil:
		if !x.passed && !x.broken {
			x.set(probeNote(err))
		}
		return
	case x.broken && (id == x.id || id == ""):
	default:
		x.passed, x.broken = true, false
		x.set()
	}
	x.down = false
	x.id = id
}

// probePath is a probe's place in a path, probeName its bare name: they differ
// from one failed race to the next, and nobody would find such a file.
var (
	probeName = regexp.MustCompile(regexp.QuoteMeta(lease.TempPrefix) + `[0-9a-f-]+`)
	probePath = regexp.MustCompile(`[/\\]` + probeName.String())
)

// probeNote says why no file could be created, and of a refusal what to do.
func probeNote(err error) reason.Reason {
	r := reason.Reason{Code: reason.ShareProbe}
	r.Detail = probeName.ReplaceAllString(probePath.ReplaceAllString(err.Error(), ""), "a file")
	if errors.Is(err, lease.ErrDenied) && !errors.Is(err, lease.ErrFull) {
		r.Code = reason.ShareReadOnly
	}
	return r
}

// pause is short until the share has been checked. It grows while races fail
// that may have left a file behind each.
func (x *exclusive) pause() time.Duration {
	if x.passed {
		x.fails = 0
		return raceEvery
	}
	return min(raceEvery/4<<min(x.fails, 8), raceMost)
}

// race returns the first number of winners above one, or one.
func (x *exclusive) race(ctx context.Context) (winners int, err error) {
	shares := make([]lease.Share, racers)
	for i := range shares {
		if shares[i], err = x.open(); err != nil {
			return 0, err
		}
		if c, ok := shares[i].(io.Closer); ok {
			defer c.Close()
		}
	}
	// One call alone first: on a share that hangs, one is stuck and not four.
	if _, err := shares[0].List(ctx, ""); err != nil {
		return 0, err
	}
	for range raceRounds {
		if winners, err = lease.RaceCreate(ctx, shares); winners > 1 || err != nil {
			x.fails++
			return winners, err
		}
	}
	return winners, nil
}
