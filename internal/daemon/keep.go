package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/convertfw/floatrelay/arbiter"
	"github.com/convertfw/floatrelay/internal/localapi"
	"github.com/convertfw/floatrelay/internal/reason"
	"github.com/convertfw/floatrelay/relayproc"
)

// seeTree takes in what a look at guard.lock said, and reports whether nothing
// of an earlier run of this node is left. A lock that is held needs no note: the
// arbiter has one until it is told otherwise.
func (d *Daemon) seeTree(err error) (clear bool) {
	d.notes.set("tree", lockNote(err, d.lockPath())...)
	if err != nil {
		return false
	}
	d.clear.Store(true)
	d.lookAtPorts(true) // before anything may be started
	d.lookForStrangers()
	d.post(arbiter.TreeClear{})
	return true
}

// lockNote says what to do about a guard.lock that cannot be looked at.
func lockNote(err error, path string) []reason.Reason {
	if err == nil || errors.Is(err, relayproc.ErrLocked) {
		return nil
	}
	return []reason.Reason{{Code: reason.EarlierUnknown, Detail: err.Error(), Path: path}}
}

// endAbandoned ends the relay of a guard that holds its lock long after its
// daemon has gone, which is this one's predecessor: it must be standing still.
func (d *Daemon) endAbandoned() {
	left, err := relayproc.KillAbandoned(d.cfg.StateDir)
	for _, o := range left {
		d.log.Warn(fmt.Sprintf("ended a process of an earlier run whose guard stood still: %v", o))
	}
	if err != nil {
		d.log.Warn("cannot end what an earlier run left", zap.Error(err))
	}
}

// guardPatience is how long the guard of an earlier run may hold its lock: many
// times the KILL_MARGIN that it has to end its tree.
const guardPatience = time.Second

// clearTree waits until nothing of an earlier run of this node is left. Its
// guard ends a relay by itself; only the orphan of a killed guard, and what a
// guard that stands still has not ended, is ended here. What is in the way is
// said when it changes, not with every look.
func (d *Daemon) clearTree(ctx context.Context) {
	said := ""
	for !d.clear.Load() {
		wait, cancel := context.WithTimeout(ctx, guardPatience)
		err := relayproc.WaitLock(wait, d.lockPath())
		cancel()
		if ctx.Err() != nil || d.seeTree(err) {
			return
		}
		orphans, kerr := relayproc.KillOrphans(d.cfg.StateDir)
		for _, o := range orphans {
			d.log.Warn(fmt.Sprintf("ended an orphaned relay: %v", o))
		}
		if errors.Is(err, relayproc.ErrLocked) && kerr != nil {
			err = kerr
			d.endAbandoned()
		}
		if text := err.Error(); text != said {
			said = text
			d.log.Warn("a relay of an earlier run is in the way", zap.Error(err))
		}
		if !sleep(ctx, 200*time.Millisecond) {
			return
		}
	}
}

// tableChanged is told by gossip; the table is read elsewhere, because it is
// told with the handler's goroutine.
func (d *Daemon) tableChanged() {
	select {
	case d.table <- struct{}{}:
	default:
	}
}

// keepTable tells the arbiter of every change of the member table, and
// remembers it for the next start.
func (d *Daemon) keepTable(ctx context.Context) {
	saved := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.table:
		}
		d.forward.look()
		rows := d.gossip.Members()
		d.post(arbiter.MembersChanged{Members: membersFrom(rows)})
		d.sayTwins(rows)
		if time.Since(saved) > 5*time.Second {
			saved = time.Now()
			if err := d.found.remember(rows); err != nil {
				d.log.Warn("cannot remember the members", zap.Error(err))
			}
		}
	}
}

// statusChanged is told by the driver and must not block.
func (d *Daemon) statusChanged(s arbiter.Status) {
	d.gossip.SetMeta(d.meta(s))
	d.sayDamaged(s)
	s.Reasons = d.room.explain(s.Reasons)
	d.sawStatus(s)
	d.forward.look()
	select {
	case d.saving <- struct{}{}:
	default:
	}
}

// keepState saves the newest rev and epoch known, a few seconds late at most:
// they only matter if the folder is lost.
func (d *Daemon) keepState(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.saving:
		}
		d.saveNow()
		if !sleep(ctx, 5*time.Second) {
			return
		}
	}
}

func (d *Daemon) saveNow() {
	st := d.driver.Status()
	err := d.state.update(func(s *state) {
		s.Rev, s.Epoch = max(s.Rev, st.KnownRev), max(s.Epoch, st.Epoch)
	})
	if err != nil {
		d.log.Warn("cannot save the state", zap.Error(err))
	}
}

// tell takes in that something happened, and why.
type tell func(warn bool, r reason.Reason, because ...reason.Reason)

// report is tell for a line that has no code.
func (d *Daemon) report(warn bool, text string) { d.tell(warn, reason.Text(text)) }

// tell logs what happened and tells the watchers.
func (d *Daemon) tell(warn bool, r reason.Reason, because ...reason.Reason) {
	text := d.lang.Say(r, because...)
	if warn {
		d.log.Warn(text, zap.String("code", string(r.Code)))
	} else {
		d.log.Info(text, zap.String("code", string(r.Code)))
	}
	ev := localapi.Event{Time: d.opt.wall(), Kind: "note", Text: text, Fact: r, Because: because, Warn: warn, Station: d.cfg.Station}
	if d.driver != nil {
		s := d.driver.Status()
		ev.Role, ev.Epoch, ev.Rev = s.Role.String(), s.Epoch, s.Rev
	}
	d.hub.Publish(ev)
	d.sawNote(ev)
}
