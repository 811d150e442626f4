package simnet

import (
	"time"

	"github.com/convertfw/floatrelay/arbiter"
)

// meddling is what a script does to one host at the level of single calls, to
// lead a world into a corner that chance reaches once in thousands. Worlds that
// are searched leave it at its zero value.
type meddling struct {
	cachedUntil time.Duration // listings come from the cache before this, as long as it keeps them
	willLate    time.Duration // how much later a last will leaves
	holdBody    bool          // the next record of this host gets its name and, for now, no body
	body        func()        // writes the body held back
	onCreate    func()        // happens when the daemon's next create leaves
	lose        bool          // creates of the daemon never arrive, and their outcome stays unknown
}

// meddled does to a daemon's create what a script asked for. It reports whether
// the create is lost.
func (w *World) meddled(c *call) bool {
	t := &c.host.told
	if do := t.onCreate; do != nil {
		t.onCreate = nil
		do()
	}
	if t.lose {
		w.note("%s asks in vain: %s", c.daemon.name, w.showAction(c.act))
		w.after(20*time.Millisecond, func() { w.answer(c, c.lost()) })
	}
	return t.lose
}

// holdBody keeps the body of a record back until a script lets it arrive. Its
// caller, if it lives, is told a second later that the outcome is unknown.
func (w *World) holdBody(c *call, a arbiter.Create, f *file) {
	t := &c.host.told
	w.note("record %d has its name and no body yet", a.Rev)
	t.holdBody = false
	t.body = func() {
		t.body = nil
		w.write(c, a, f)
		w.after(time.Second, func() { w.answer(c, c.lost()) })
	}
}

// LoseCreates lets no record of a host's daemon arrive any more, or ends that.
func (s *Script) LoseCreates(station string, lose bool) *Script {
	what := "records of " + station + " arrive again"
	if lose {
		what = "records of " + station + " are lost on their way"
	}
	return s.do(what, func() { s.host(station).told.lose = lose })
}

// note tells in a script, and only there, that a situation was reached.
func (w *World) note(format string, args ...any) {
	if w.opt.Mode == Scripted {
		w.story("*** "+format, args...)
	}
}

// KeepListing answers a host's listings from its cache, as it is, until an
// instant; but no cache keeps a listing for more than 10 s.
func (s *Script) KeepListing(station string, until time.Duration) *Script {
	return s.do(station+" lists from its cache", func() { s.host(station).told.cachedUntil = until })
}

// DelayWill lets the last wills of a host leave later.
func (s *Script) DelayWill(station string, d time.Duration) *Script {
	return s.do("last wills of "+station+" are late by "+d.String(), func() { s.host(station).told.willLate = d })
}

// HoldBody lets the next record of a host get its name and no body.
func (s *Script) HoldBody(station string) *Script {
	return s.do("the next body from "+station+" is held back", func() { s.host(station).told.holdBody = true })
}

// BodyBeforeNextCreate writes the body that was held back from one host just
// before the next create of another leaves.
func (s *Script) BodyBeforeNextCreate(of, before string) *Script {
	return s.do("the body from "+of+" arrives just before "+before+" creates", func() {
		s.host(before).told.onCreate = func() {
			if write := s.host(of).told.body; write != nil {
				write()
			}
		}
	})
}

// BreakPipe lets the guards of a host take their daemon for dead.
func (s *Script) BreakPipe(station string) *Script {
	return s.do("the guard of "+station+" hears nothing from its daemon", func() { s.eachGuard(s.host(station), s.guardHearsEOF) })
}

// FreezeGuard stops the guards of a host, not its daemon.
func (s *Script) FreezeGuard(station string, d time.Duration) *Script {
	return s.do("the guard of "+station+" is stopped", func() {
		s.eachGuard(s.host(station), func(g *guard) { s.freezeGuard(g, d) })
	})
}

// Stop asks a daemon to end, and starts nothing in its place.
func (s *Script) Stop(station string) *Script {
	return s.do(station+" is stopped", func() { s.askHandoff(s.host(station), true) })
}

// KillGuard ends the guards of a host, and what runs under them.
func (s *Script) KillGuard(station string) *Script {
	return s.do("the guard of "+station+" is killed", func() { s.eachGuard(s.host(station), s.crashGuard) })
}

// CrashRelay lets the relay of a host end by itself.
func (s *Script) CrashRelay(station string) *Script {
	return s.do("the relay of "+station+" crashes", func() {
		s.eachGuard(s.host(station), func(g *guard) { s.relayEnds(g, exitedByItself) })
	})
}

// RollOver restarts all daemons, one after the other, gracefully.
func (s *Script) RollOver() *Script {
	return s.do("all are restarted, one after the other", func() { s.rollOver(0) })
}

// GoOffline lets a PC's offline copy of the folder answer for a while.
func (s *Script) GoOffline(station string, d time.Duration) *Script {
	return s.do(station+" falls back to its offline copy", func() { s.goOffline(s.host(station), d) })
}

// MoveFolder puts another, empty folder behind a PC's LEASE_DIR for a while:
// another disk under the same letter, say. Whatever is under way meets it too.
func (s *Script) MoveFolder(station string, d time.Duration) *Script {
	return s.do(station+" sees another, empty folder", func() {
		s.moveFolder(s.host(station), d)
	})
}

// DamageHead halves the newest record on the server.
func (s *Script) DamageHead() *Script {
	return s.do("the newest record is damaged", func() {
		c := s.shares[0].chain
		top := s.shares[0].list(s.now).revs
		f := c.live[top[len(top)-1]]
		f.body = f.body[:len(f.body)/2]
	})
}
